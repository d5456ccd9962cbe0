"""Projected replicator dynamics.

After Lanctot et al. 2017, "A Unified Game-Theoretic Approach to Multiagent Reinforcement
Learning", appendix, arXiv:1711.00832.  Replicator dynamics that never let a policy die out: after
each step the mixture is projected back to those that give every policy at least gamma / (n + 1).
"""

from __future__ import annotations

import functools

import numpy as np

from arena.analysis.meta_game import (
    Floats,
    MetaSolver,
    MetaStrategy,
    check_meta_game,
    meta_strategy,
    scale_of,
)


def projected_replicator(
    *, iterations: int = 20_000, step: float = 0.01, gamma: float = 1e-6
) -> MetaSolver:
    """A solver with these settings.

    Args:
      iterations: steps; the answer is the average over all of them, which approaches a Nash
        equilibrium of a zero-sum game about as log(n) / (iterations * step) + step, in units of
        the largest payoff.
      step: length of a step in time, with payoffs scaled to [-1, 1].
      gamma: how much exploration is kept.
    """
    if iterations < 1 or not 0.0 < step <= 1.0 or not 0.0 <= gamma < 1.0:
        raise ValueError(
            f"projected replicator dynamics need iterations >= 1, 0 < step <= 1 and "
            f"0 <= gamma < 1, not {iterations}, {step}, {gamma}"
        )
    return functools.partial(_solve, iterations=iterations, step=step, gamma=gamma)


def _solve(
    mean: Floats, stderr: Floats, *, iterations: int, step: float, gamma: float
) -> MetaStrategy:
    del stderr
    check_meta_game(mean)
    n = len(mean)
    matrix = mean / scale_of(mean)
    least = gamma / (n + 1)
    weights = np.full(n, 1.0 / n)
    total = np.zeros(n)
    for _ in range(iterations):
        fitness = matrix @ weights
        weights = weights * (1.0 + step * (fitness - weights @ fitness))
        if weights.min() < least:
            weights = project(weights, least)
        total += weights
    settings = {"iterations": iterations, "step": step, "gamma": gamma}
    return meta_strategy(mean, total, "prd", settings)


def project(point: Floats, least: float) -> Floats:
    """The nearest point (n,) with entries of at least `least` that add up to 1.

    By sorting (Duchi et al. 2008, doi:10.1145/1390156.1390191).
    """
    n = len(point)
    room = 1.0 - n * least
    shifted = point - least
    descending = np.sort(shifted)[::-1]
    excess = (np.cumsum(descending) - room) / np.arange(1, n + 1)
    above = np.flatnonzero(descending > excess)
    last = int(above[-1]) if above.size else 0  # room can be lost to rounding beside large entries
    nearest: Floats = np.maximum(shifted - excess[last], 0.0) + least
    return nearest
