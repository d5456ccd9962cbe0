"""What every solver of a meta-game shares: the matrix, mixtures over it, and how good they are.

The meta-game is the symmetric two-player zero-sum game whose actions are n policies.  Its matrix
is antisymmetric, so its value is 0, and a mixture is optimal exactly if no policy beats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Setting = str | int | float

_ROWS = 64
"""That are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class MetaStrategy:
    """A mixture over n policies, and how it was found.

    Attributes:
      weights: (n,) not negative, adding up to 1; read-only.
      value: what the mixture is sure to get in the meta-game, per match in the game's unit, at
        most 0.
      exploitability: what the best single policy wins against it, at least 0; it is -value.
      population_payoff: its mean payoff against the n policies, all equally often.
      solver: name of the solver.
      settings: what it was run with, enough to run it again.
    """

    weights: Floats
    value: float
    exploitability: float
    population_payoff: float
    solver: str
    settings: Mapping[str, Setting]

    @property
    def support(self) -> tuple[int, ...]:
        """Indices of the policies with positive weight."""
        return tuple(np.nonzero(self.weights > 0.0)[0].tolist())


class MetaSolver(Protocol):
    """Solves a meta-game."""

    def __call__(self, mean: Floats, stderr: Floats) -> MetaStrategy:
        """Finds a mixture.

        Args:
          mean: (n, n) payoffs of row against column, antisymmetric.
          stderr: (n, n) their standard errors, NaN where not known; solvers that do not use the
            noise ignore them.

        Raises:
          ValueError: the matrix is not that of such a game, or not complete.
        """
        ...


def exploitability(mean: Floats, weights: Floats) -> float:
    """What the best single policy wins against the mixture: max over j of -(weights @ mean)_j."""
    return max(0.0, -float((weights @ mean).min()))


def nash_conv(mean: Floats, weights: Floats) -> float:
    """What both players together could gain if each played the mixture: twice exploitability."""
    return 2.0 * exploitability(mean, weights)


def check_meta_game(mean: Floats) -> None:
    """Refuses what is not the matrix of a symmetric zero-sum game.

    Raises:
      ValueError: says what is wrong with the matrix.
    """
    if mean.ndim != 2 or mean.shape[0] != mean.shape[1] or mean.shape[0] == 0:
        raise ValueError(f"a meta-game needs a square matrix of payoffs, not shape {mean.shape}")
    if not np.isfinite(mean).all():
        missing = int((~np.isfinite(mean)).sum())
        raise ValueError(
            f"{missing} of {mean.size} payoffs are not known: play the missing pairs first"
        )
    # Some rows at a time: of thousands of policies the passing arrays would be many and large.
    parts = (slice(start, start + _ROWS) for start in range(0, len(mean), _ROWS))
    if not all(np.allclose(mean[part], -mean[:, part].T, rtol=1e-9, atol=1e-9) for part in parts):
        raise ValueError("payoffs are not antisymmetric: row against column must be its negative")


def complete(lacking: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of n policies all met each other, from who did not meet whom (n, n).

    Whoever lacks the most opponents is left out, one after the other; among equals, the later.
    """
    inside = np.ones(len(lacking), dtype=bool)
    gaps = lacking.sum(axis=1)
    while gaps.size and gaps.max() > 0:
        out = len(gaps) - 1 - int(gaps[::-1].argmax())
        inside[out] = False
        gaps = np.where(inside, gaps - lacking[:, out], 0)
    return inside


def scale_of(mean: Floats) -> float:
    """The largest payoff, to make solvers' settings independent of the game's unit; never 0."""
    return float(np.abs(mean).max()) or 1.0


def meta_strategy(
    mean: Floats, weights: Floats, solver: str, settings: Mapping[str, Setting]
) -> MetaStrategy:
    """Puts a solver's raw weights (n,) in order and measures them."""
    weights = np.maximum(weights, 0.0)
    weights = weights / weights.sum()
    weights.setflags(write=False)
    loss = exploitability(mean, weights)
    return MetaStrategy(
        weights=weights,
        value=0.0 - loss,
        exploitability=loss,
        population_payoff=float((weights @ mean).mean()),
        solver=solver,
        settings=dict(settings),
    )


def uniform(mean: Floats, stderr: Floats) -> MetaStrategy:
    """Every policy equally often (fictitious play, when used in each iteration of a loop)."""
    del stderr
    check_meta_game(mean)
    return meta_strategy(mean, np.ones(len(mean)), "uniform", {})
