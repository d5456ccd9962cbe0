"""Alpha-rank of a symmetric two-player game with one population.

After Omidshafiei et al. 2019, doi:10.1038/s41598-019-45619-9.  A population of m individuals plays
one policy until a mutant's policy takes over.  How likely a takeover is grows with the mutant's
payoff against the residents; alpha says how steeply.  The share of time that the population spends
with each policy is the policy's rank.

With a large alpha, takeovers by worse policies have probabilities far below what a float can hold,
and the usual eigenvector is lost.  Here probabilities are kept as logarithms, and the stationary
distribution comes from elimination without subtractions (Grassmann, Taksar and Heyman 1985,
doi:10.1287/opre.33.5.1107), so any alpha is safe.

Logarithms of sums are slow.  Of many policies the same elimination is tried with plain numbers and
in blocks, as products of matrices.  Rates that floats cannot hold are left out there.  What that
changes is at most in proportion to them and to the longest expected time to one of the states (any
chain that is perturbed does so: Cho and Meyer 2001, "Comparison of perturbation bounds for the
stationary distribution of a Markov chain").  Where that is not negligible, logarithms it is.
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

ALPHA = 100.0
POPULATION = 50
_MANY = 200
"""Policies from which on plain numbers are tried first; fewer take no time in logarithms."""
_BLOCK = 64
"""States that are taken out together."""
_SMALLEST = 1e-290
"""Smaller rates are left out."""
_LONGEST = 1e250
"""Longest time to the last state, in units of one over a rate, with which that changes nothing."""


def alpha_rank(*, alpha: float = ALPHA, population: int = POPULATION) -> MetaSolver:
    """A solver with these settings.

    Args:
      alpha: strength of selection, with payoffs scaled to [-1, 1].
      population: individuals, at least 2.
    """
    if alpha <= 0.0 or population < 2:
        raise ValueError(
            f"alpha-rank needs alpha > 0 and a population >= 2, not {alpha}, {population}"
        )
    return functools.partial(_solve, alpha=alpha, population=population)


def _solve(mean: Floats, stderr: Floats, *, alpha: float, population: int) -> MetaStrategy:
    del stderr
    check_meta_game(mean)
    shares = stationary_shares(mean / scale_of(mean), alpha, population)
    return meta_strategy(mean, shares, "alpha-rank", {"alpha": alpha, "population": population})


def stationary_shares(matrix: Floats, alpha: float, population: int) -> Floats:
    """Share of time with each policy, (n,), for payoffs (n, n) of row against column.

    The cost grows with n^3.
    """
    log_moves = log_fixation(alpha * (matrix.T - matrix), population)
    if len(matrix) >= _MANY:
        # The strong last: the state that is left at the end should be one that is often visited.
        order = np.argsort(-matrix.mean(axis=1), kind="stable")
        found = _stationary(np.exp(log_moves[np.ix_(order, order)]))
        if found is not None:
            shares = np.empty(len(matrix))
            shares[order] = found
            return shares
    return np.asarray(np.exp(_log_stationary(log_moves)), dtype=np.float64)


def log_fixation(advantage: Floats, population: int) -> Floats:
    """Logarithm of the probability that one mutant takes over a population of m.

    It is log((1 - exp(-u)) / (1 - exp(-m u))), in a form that neither overflows nor underflows;
    -log(m) at u = 0.

    Args:
      advantage: alpha times (payoff of mutant against resident - of resident against mutant), u.
      population: m.
    """
    size = np.abs(advantage)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(-np.expm1(-size)) - np.log(-np.expm1(-population * size))
    ratio = np.where(size < 1e-14, -np.log(population), ratio)
    against_selection = np.where(advantage < 0.0, (population - 1) * size, 0.0)
    return np.asarray(ratio - against_selection, dtype=np.float64)


def _log_stationary(log_rates: Floats) -> Floats:
    """Logarithm of a chain's stationary distribution from logarithms of its rates (row to column).

    Rates need no normalisation as long as all rows share the factor; the diagonal is ignored.
    """
    rates = log_rates.copy()
    n = len(rates)
    leaving = np.zeros(n)
    for last in range(n - 1, 0, -1):
        # Take state `last` out: whoever went there now goes where it would have gone on to.
        leaving[last] = np.logaddexp.reduce(rates[last, :last])
        detour = rates[:last, last, None] + rates[last, None, :last] - leaving[last]
        rates[:last, :last] = np.logaddexp(rates[:last, :last], detour)
    log_shares = np.zeros(n)
    for state in range(1, n):
        inflow = np.logaddexp.reduce(log_shares[:state] + rates[:state, state])
        log_shares[state] = inflow - leaving[state]
    normalised: Floats = log_shares - np.logaddexp.reduce(log_shares)
    return normalised


def _stationary(rates: Floats) -> Floats | None:
    """A chain's stationary distribution from its rates (row to column), in plain numbers.

    Args:
      rates: (n, n), changed; the diagonal is ignored.

    Returns:
      (n,) shares; None where what floats cannot hold may matter.
    """
    n = len(rates)
    rates[rates < _SMALLEST] = 0.0
    leaving, cost = np.ones(n), np.ones(n)
    for end in range(n, 1, -_BLOCK):
        start = max(end - _BLOCK, 1)
        for last in range(end - 1, start - 1, -1):
            # As in logarithms; a row is kept divided by its sum, where the time there goes on to.
            leaving[last] = rates[last, :last].sum()
            if not leaving[last] > _SMALLEST:
                return None
            rates[last, :last] /= leaving[last]
            onward, inward = rates[last, :last], rates[:last, last]
            rates[start:last, :last] += inward[start:, None] * onward
            rates[:start, start:last] += inward[:start, None] * onward[start:]
            cost[:last] += inward * (cost[last] / leaving[last])
        rates[:start, :start] += rates[:start, start:end] @ rates[start:end, :start]
    shares, times = np.ones(n), np.zeros(n)
    for state in range(1, n):
        shares[state] = shares[:state] @ rates[:state, state] / leaving[state]
        times[state] = cost[state] / leaving[state] + rates[state, :state] @ times[:state]
    total = shares.sum()
    if not (np.isfinite(total) and times.max() < _LONGEST):
        return None
    normalised: Floats = shares / total
    return normalised
