"""Ranks from scores that are known more or less precisely, with the ranges that noise leaves open.

Whoever is measured stands where its score puts it.  A provisional score is too noisy for that: few
matches with a lucky opponent would lead the board.  So its row stands behind every measured one
whose score the low end of its interval does not pass.  Among rows that are provisional, the score
decides.

That every provisional row stands behind all that are measured, however sure it is to be better
than most of them, is another rule, and misleads: intervals of minima are wide for those that are
near the top, so with few matches it is the strong who are provisional.  What each rule makes of
the 43 bots is printed by `python benchmarks/provisional_ranks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.analysis.estimates import Estimates, surely_better

Bools = NDArray[np.bool_]
Ranks = tuple[int, int, int]
"""Rank, and the best and the worst one that the noise leaves open."""


def ranks(scores: Estimates, provisional: Bools, names: Sequence[str]) -> dict[int, Ranks]:
    """The ranks of rows by place, best first; rows without a score (NaN) have none.

    The range of a row counts who is surely better and who is surely worse (see `surely_better`).
    That of a measured row passes over provisional ones that stand behind it: who is barely known
    opens nobody's rank.

    Args:
      scores: (r,) larger is better.
      provisional: (r,) whose score is known too little.
      names: (r,) that order equal scores, so that the order of the input never does.
    """
    scored = ~np.isnan(scores.value)
    places = np.flatnonzero(scored).tolist()
    behind = _measured_before(scores, provisional, scored)
    order = sorted(
        places,
        key=lambda row: (behind[row], not provisional[row], -float(scores.value[row]), names[row]),
    )
    position = np.zeros(len(scored), dtype=np.intp)
    position[order] = np.arange(len(order))
    before = position[None, :] < position[:, None]
    counts = scored & (provisional[:, None] | ~provisional | before)
    better = surely_better(scores)
    low = 1 + (better.T & counts).sum(axis=1)
    high = counts.sum(axis=1) - (better & counts).sum(axis=1)
    return {row: (rank, int(low[row]), int(high[row])) for rank, row in enumerate(order, start=1)}


def _measured_before(scores: Estimates, provisional: Bools, scored: Bools) -> NDArray[np.intp]:
    """(r,) how many measured rows stand before each: those above what it is worth at least."""
    worth = np.where(provisional, np.nan_to_num(scores.low, nan=-np.inf), scores.value)
    measured = np.sort(-scores.value[scored & ~provisional])
    found: NDArray[np.intp] = np.searchsorted(measured, -worth, side="left")
    return found
