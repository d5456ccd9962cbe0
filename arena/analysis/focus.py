"""Which pairs should play next: those whose noise can still change the answer.

What people read is a sum of payoffs with weights: an AggScore, or what a mixture wins against
somebody.  A pair matters as far as its payoff has weight in a number that is still open, which is
decided by confidence bounds as in response-graph UCB (M. Rowland, S. Omidshafiei, K. Tuyls,
J. Perolat, M. Valko, G. Piliouras, R. Munos, "Multiagent Evaluation under Incomplete Information",
NeurIPS 2019, arXiv:1909.09849).  Deals are then shared out in proportion to weight times spread,
which leaves the least variance in sums (J. Neyman, "On the two different aspects of the
representative method", Journal of the Royal Statistical Society 97, 1934).

What decides about matches here is who is ahead, not the spread alone.  So means are a little too
low for those that looked bad early and were left alone (X. Nie, X. Tian, J. Taylor, J. Zou, "Why
adaptively collected data have negative bias and how to correct for it", AISTATS 2018).  How little
it is, is printed by `python benchmarks/match_budgets.py`.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from arena.analysis.metrics import agg_score
from arena.analysis.nash import nash

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

TOP = 5
"""Ranks of a leaderboard that a budget is to decide."""
_OTHERS = 0.2
"""Weight of numbers that are decided, beside 1 for those that are open."""
_NOTHING = 1e-9
"""A part of the largest need that is none."""
_BOUND = 2.0
"""Standard errors that a confidence bound is away."""


class Focus(enum.StrEnum):
    """What a budget of matches is to decide."""

    LEADERBOARD = "leaderboard"
    """Who is at the top by AggScore, and in which order."""
    NASH = "nash"
    """Who is in the support of the meta-equilibrium."""


def leaderboard_weights(mean: Floats, stderr: Floats, deals: Counts, population: Counts) -> Floats:
    """(n, n) symmetric: how much a pair's payoff counts for the top of the leaderboard.

    Args:
      mean: (n, n) payoffs, all known.
      stderr: (n, n).
      deals: (n, n).
      population: (m,) places of the evaluation population among the n.
    """
    n, m = len(mean), len(population)
    means, errors = mean[:, population], stderr[:, population]
    itself = np.arange(n)[:, None] == population
    freedom = np.where(itself, np.inf, np.maximum(deals[:, population] - 1.0, 1.0))
    scores = agg_score(means, np.where(itself, 0.0, errors), freedom)
    top = np.partition(scores.low, -min(TOP, n))[-min(TOP, n)]
    leads = scores.high >= top
    overlaps = (scores.low[:, None] <= scores.high) & (scores.high[:, None] >= scores.low)
    np.fill_diagonal(overlaps, False)
    is_open = leads & (overlaps & leads).any(axis=1)
    reach = _BOUND * errors
    worst = means - reach <= (means + reach).min(axis=1, keepdims=True)
    counts = (1.0 / m + worst / worst.sum(axis=1, keepdims=True)) * np.where(is_open, 1.0, _OTHERS)[
        :, None
    ]
    squares = np.zeros((n, n))
    squares[:, population] = counts**2
    return _of_pairs(squares)


def nash_weights(mean: Floats, stderr: Floats) -> Floats:
    """(n, n) symmetric: how much a pair's payoff counts for the meta-equilibrium.

    Args:
      mean: (n, n) payoffs, all known.
      stderr: (n, n).
    """
    sigma = nash(mean, stderr).weights
    won = mean @ sigma
    error = np.sqrt(stderr**2 @ sigma**2)
    responds = won + _BOUND * error >= 0.0
    # Whoever may belong to the support is measured as if it had a share in it.
    share = 0.5 * sigma + 0.5 * responds / responds.sum()
    return _of_pairs(np.where(responds, 1.0, _OTHERS)[:, None] ** 2 * share**2)


def _of_pairs(squares: Floats) -> Floats:
    """From what the row's numbers make of a pair to what both sides' do."""
    weights: Floats = np.sqrt(squares + squares.T)
    np.fill_diagonal(weights, 0.0)
    return weights


def spreads(stderr: Floats, deals: Counts) -> Floats:
    """(p,) standard deviations of a deal, each mixed with that of all as if that were one deal.

    Args:
      stderr: (p,) of means.
      deals: (p,) at least 2.
    """
    own = stderr**2 * deals
    freedom = deals - 1.0
    pooled = (own * freedom).sum() / freedom.sum()
    mixed: Floats = np.sqrt((own * freedom + pooled) / (freedom + 1.0))
    return mixed


def share_out(need: Floats, deals: Counts, most: Counts, budget: int) -> Counts:
    """(p,) deals for each pair, those that it has included, after so many more are shared out.

    Totals are in proportion to `need` as far as what pairs have and the most that they may get
    allow it.

    Args:
      need: (p,) weight times spread.
      deals: (p,) that they have.
      most: (p,) that they may get.
      budget: deals to share out; less where no pair that needs any may get more.
    """
    most = np.where(need > _NOTHING * need.max(initial=0.0), np.maximum(most, deals), deals)
    room = most - deals
    if budget >= room.sum():
        return most
    low, high = 0.0, 1.0
    while _filled(need, deals, most, high) < budget and high < 1e18:
        high *= 2.0
    for _ in range(60):
        level = (low + high) / 2.0
        low, high = (level, high) if _filled(need, deals, most, level) < budget else (low, level)
    wanted = np.clip(np.floor(need * low), deals, most)
    more = wanted.astype(np.int64)
    # What rounding left goes to those that lack the most of what they should have.
    lacking = np.where(more < most, need * high - more, -np.inf)
    left = budget - int((more - deals).sum())
    more[np.argsort(-lacking, kind="stable")[:left]] += 1
    return np.minimum(more, most)


def _filled(need: Floats, deals: Counts, most: Counts, level: float) -> float:
    return float((np.clip(np.floor(need * level), deals, most) - deals).sum())
