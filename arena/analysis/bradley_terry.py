"""Bradley-Terry strengths: the most likely ones, by Newton's method.

After Hunter 2004, "MM algorithms for generalized Bradley-Terry models",
doi:10.1214/aos/1079120141.  Of the two methods compared there it is Newton's that is used: where
one group of policies beats another almost always, as here it often does, the other one needs tens
of thousands of rounds.

Strengths are one number a policy, such that the odds of winning are the ratio of two strengths.
Cyclic dominance cannot be said in this language, so they are a secondary column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ELO = 400.0 / float(np.log(10.0))
"""Points of Elo's scale in one unit of log-strength: 400 points are odds of 10 to 1."""
_MAX_ROUNDS = 200
_LONGEST_STEP = 4.0


def bradley_terry(
    wins: NDArray[np.integer], draws: NDArray[np.integer], *, prior: float = 0.5
) -> Floats:
    """Log-strengths that make the results most likely.

    Args:
      wins: (n, n) matches that the row won against the column; the diagonal is ignored.
      draws: (n, n) symmetric; a draw counts as half a win for each.
      prior: wins and losses that every policy is given against a policy of strength 1.  It keeps
        the strengths of those who won or lost everything finite, and ties together groups that
        never met.

    Returns:
      (n,) natural logarithms of strengths; 0 is the prior's policy.  Times `ELO` for Elo points.

    Raises:
      ValueError: the prior is not positive.
    """
    if prior <= 0.0:
        raise ValueError(f"the prior must be positive, not {prior}: strengths could be infinite")
    points = _points(wins, draws, prior)
    strength: Floats = np.zeros(len(points))
    likelihood = _log_likelihood(points, strength)
    for _ in range(_MAX_ROUNDS):
        slope, curvature = _bends(points, strength)
        step = np.append(np.linalg.solve(curvature, slope), 0.0)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        # The likelihood is concave, so some shorter step is uphill unless this is the top.
        while (ahead := _log_likelihood(points, strength + step)) < likelihood:
            step /= 2.0
            if float(np.abs(step).max()) < 1e-9:
                return strength[:-1]
        strength, likelihood = strength + step, ahead
        if float(np.abs(step).max()) < 1e-9:
            return strength[:-1]
    raise ArithmeticError(f"Bradley-Terry strengths did not settle in {_MAX_ROUNDS} rounds")


def errors_of(
    wins: NDArray[np.integer],
    draws: NDArray[np.integer],
    strength: Floats,
    *,
    prior: float = 0.5,
) -> Floats:
    """Standard errors of log-strengths, each less the mean of all.

    From the curvature of the likelihood at its top (the observed information), so they take the
    model for granted: matches that are independent, and odds that are ratios of strengths.  How
    strong everybody is together follows from the prior alone, so it is no error of anyone.

    Args:
      wins: as in `bradley_terry`.
      draws: likewise.
      strength: (n,) what it returned.
      prior: that it was given.

    Returns:
      (n,) positive; 0 where there is one policy alone.
    """
    _, curvature = _bends(_points(wins, draws, prior), np.append(strength, 0.0))
    covariance = np.linalg.inv(curvature)
    # Less the mean of all: rows and columns of the covariance are centred.
    rows = covariance.mean(axis=1)
    variance = covariance.diagonal() - 2.0 * rows + covariance.mean()
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)


def _points(wins: NDArray[np.integer], draws: NDArray[np.integer], prior: float) -> Floats:
    """(n + 1, n + 1) points of row against column; the last is the prior's policy."""
    points = wins + 0.5 * draws
    np.fill_diagonal(points, 0.0)
    # The prior's policy is one more player, whose log-strength stays 0.
    points = np.pad(points, (0, 1), constant_values=prior)
    points[-1, -1] = 0.0
    return np.asarray(points, dtype=np.float64)


def _bends(points: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """Slope (n,) of the log-likelihood, and its curvature (n, n) with the sign turned."""
    games = points + points.T
    chance = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    slope = (points - games * chance).sum(axis=1)[:-1]
    bend = games * chance * (1.0 - chance)
    return slope, (np.diag(bend.sum(axis=1)) - bend)[:-1, :-1]


def _log_likelihood(points: Floats, strength: Floats) -> float:
    against = strength[None, :] - strength[:, None]
    return -float((points * np.logaddexp(0.0, against)).sum())
