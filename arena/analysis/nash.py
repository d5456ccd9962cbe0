"""Nash equilibria of meta-games by linear programming.

A symmetric zero-sum game has many optimal mixtures when payoffs are close, and noise alone decides
which of them a linear program returns: three measurements of one 43 x 43 table gave mixtures of
very different quality against the table's policies.  `nash` therefore fixes a rule: among the
mixtures that no policy beats by more than the noise of the payoff against that policy, take the
one with the largest mean payoff over all policies.  Each opponent has a slack of its own: against
one that was measured badly a mixture may lose more, and for that nothing is given away against
the others.  `lp` is the plain program.

Policies that draw with each other cannot be told apart so: where one of them is the plain
program's mixture, its payoff against itself has no noise, and whoever lost to it by chance, however
little, is out.  Where others beyond the policies are to choose, each policy therefore has the noise
of its own payoffs.

Both leave out weights that are too small to mean anything (`LEAST_WEIGHT`): a linear program uses
what it is granted to the last digit, by weights of 1e-7, and whoever has one would be in the
support.  Other solvers do not: replicator dynamics and alpha-rank give everybody a weight by their
own rule, so there small ones are the answer itself.
"""

from __future__ import annotations

import numpy as np

from arena.analysis.meta_game import (
    Floats,
    MetaStrategy,
    Setting,
    check_meta_game,
    meta_strategy,
    scale_of,
)

_TOLERANCE = 1e-10
"""The tightest that HiGHS takes; payoffs are scaled to [-1, 1]."""
_MARGIN = 1e-7
"""On the same scale: what is granted where errors may be 0, or nothing may be found feasible."""
LEAST_WEIGHT = 1e-4
"""A smaller weight is none: of 10,000 matches of a mixture its policy would play less than one."""
_LEAST_OF_EQUAL = 0.01
"""Of 1/n, where that is less: so that of many policies no more than this is left out in all."""


def lp(mean: Floats, stderr: Floats) -> MetaStrategy:
    """A mixture that guarantees the most (von Neumann's maximin, as a linear program by HiGHS)."""
    del stderr
    check_meta_game(mean)
    return _measured(mean, _maximin(mean / scale_of(mean)), "lp", {"program": "highs-ds"})


def nash(
    mean: Floats, stderr: Floats, *, noise_factor: float = 1.0, beyond: Floats | None = None
) -> MetaStrategy:
    """The mixture with the largest mean payoff over the n policies that none beats beyond noise.

    Args:
      mean: (n, n) payoffs.
      stderr: (n, n) standard errors; where one is not known, the largest known one stands in.
      noise_factor: the slack against each policy, in standard errors (see `noise_of`).
      beyond: (n, m) payoffs against m others who cannot be played: they have a part in that mean,
        each as much as one of the policies.  A mixture then may lose to each policy the standard
        errors of its members' payoffs against it, averaged by their weights.

    Returns:
      The mixture; its settings record the rule, the largest slack (in the game's unit per match)
      and, where there was any, the weight of all that is left out (`LEAST_WEIGHT`).

    Raises:
      ValueError: the matrix is not that of such a game, or `beyond` has other rows or a gap.
    """
    check_meta_game(mean)
    others = np.zeros((len(mean), 0)) if beyond is None else np.asarray(beyond, dtype=np.float64)
    if others.ndim != 2 or len(others) != len(mean) or not np.isfinite(others).all():
        raise ValueError(
            f"payoffs beyond {len(mean)} policies have a row for each and no gaps; "
            f"these have the shape {others.shape}"
        )
    scale = scale_of(mean)
    plain = _maximin(mean / scale)
    # A linear program keeps its promise to some digits only.
    slack = max(0.0, -float((plain @ mean).min()))
    if others.size:
        wanted, errors = np.hstack([mean, others]).mean(axis=1), _filled(stderr)
        granted = mean + noise_factor * errors
        size = scale_of(granted)  # errors may be larger than all payoffs
        limits = np.full(len(mean), slack / size + _MARGIN)
        chosen = _largest_payoff(wanted / scale_of(wanted), granted / size, limits)
        noise = chosen @ errors
    else:
        noise, chosen = noise_of(plain, stderr), plain
        if noise.any():
            allowed = slack + noise_factor * noise
            wanted = (mean / scale).mean(axis=1)
            chosen = _largest_payoff(wanted, mean / scale, allowed / scale)
    settings: dict[str, Setting] = {
        "rule": _rule(others.shape[1]),
        "eps": float((slack + noise_factor * noise).max()),
        "noise": float(noise.max()),
        "noise_factor": noise_factor,
        "program": "highs-ds",
    }
    return _measured(mean, chosen, "nash", settings)


def _measured(
    mean: Floats, weights: Floats, solver: str, settings: dict[str, Setting]
) -> MetaStrategy:
    """The mixture without what is too little, measured as it is then.

    To leave out a weight of r in all costs 2 r / (1 - r) of the largest payoff at most.
    """
    least = min(LEAST_WEIGHT, _LEAST_OF_EQUAL / len(weights))
    kept = np.where(weights < least, 0.0, weights)
    left_out = float(np.maximum(weights - kept, 0.0).sum())
    told = {**settings, "left_out": left_out} if left_out else settings
    return meta_strategy(mean, kept, solver, told)


def _rule(beyond: int) -> str:
    """The rule in words, with so many others to choose."""
    over = f" and {beyond} beyond it" if beyond else ""
    payoff = "its members' payoffs" if beyond else "the payoff"
    return (
        f"largest mean payoff over the population{over} among mixtures that nobody beats by more "
        f"than the noise of {payoff} against it"
    )


def noise_of(weights: Floats, stderr: Floats) -> Floats:
    """Standard errors (n,) of a mixture's payoff against each of the n policies.

    Args:
      weights: (n,) the mixture.
      stderr: (n, n); where one is not known, the largest known one stands in, or 0.
    """
    noise: Floats = np.sqrt((weights**2) @ _filled(stderr) ** 2)
    return noise


def _filled(stderr: Floats) -> Floats:
    """With the largest known one, or 0, for those that are not known."""
    known = stderr[np.isfinite(stderr)]
    return np.where(np.isfinite(stderr), stderr, known.max() if known.size else 0.0)


def _maximin(matrix: Floats) -> Floats:
    """Weights (n,) that maximise the smallest entry of weights @ matrix; entries in [-1, 1]."""
    n = len(matrix)
    # Variables: n weights and the guaranteed payoff v; every column j: v - weights @ matrix_j <= 0.
    return _solve(
        objective=np.append(np.zeros(n), -1.0),
        rows=np.hstack([-matrix.T, np.ones((n, 1))]),
        limits=np.zeros(n),
        simplex=np.append(np.ones(n), 0.0),
        bounds=[(0.0, 1.0)] * n + [(-1.0, 1.0)],
    )[:n]


def _largest_payoff(wanted: Floats, matrix: Floats, eps: Floats) -> Floats:
    """Weights (n,) with the largest weights @ wanted; entries of weights @ matrix are >= -eps."""
    n = len(matrix)
    return _solve(
        objective=-wanted,
        rows=-matrix.T,
        limits=eps,
        simplex=np.ones(n),
        bounds=[(0.0, 1.0)] * n,
    )


def _solve(
    objective: Floats,
    rows: Floats,
    limits: Floats,
    simplex: Floats,
    bounds: list[tuple[float, float]],
) -> Floats:
    """Minimises objective @ x subject to rows @ x <= limits and simplex @ x = 1."""
    from scipy.optimize import linprog  # takes half a second to load, and few commands need it

    answer = linprog(
        objective,
        A_ub=rows,
        b_ub=limits,
        A_eq=simplex[None, :],
        b_eq=np.ones(1),
        bounds=bounds,
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if not answer.success:
        raise ArithmeticError(f"HiGHS did not solve the linear program: {answer.message}")
    return np.asarray(answer.x, dtype=np.float64)
