"""When a pair has played enough: a sequential rule for the standard error of its mean return.

A pair plays in rounds of whole deals.  After each it is looked at, and it is done at the first
look at which the standard error is no larger than was asked for (Y. S. Chow and H. Robbins, "On
the asymptotic theory of fixed-width sequential confidence intervals for the mean", Ann. Math.
Stat. 36, 1965, doi:10.1214/aoms/1177700156).  Looks are few, each half as far again as the one
before, in the manner of P. Hall, "Asymptotic theory of triple sampling for sequential estimation
of a mean", Ann. Stat. 9, 1981, doi:10.1214/aos/1176345584.

Only the spread decides, never the mean.  Of normal returns the mean is independent of the spread,
and of symmetric ones uncorrelated with it: then the mean at the end is as unbiased as that of a
number of matches that was fixed before.  The spread itself is a little too small where a rule
waits for it to be small.  That is why nobody is looked at before 8 deals, and why the error of few
deals has a floor.  Where deals are very skewed the rule costs more: what it covers then is printed
by `python benchmarks/stopping_rule.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from arena.analysis.stakes import Stakes

Floats = NDArray[np.float64]

FIRST_LOOK = 8
"""Deals."""
_GROWTH = 1.5


def looks(most: int, first: int = FIRST_LOOK) -> Iterator[int]:
    """After how many deals a pair is looked at: 8, 12, 18, 27, ..., the last time at `most`."""
    deals = first
    while deals < most:
        yield deals
        deals = math.ceil(deals * _GROWTH)
    yield most


def floored(stderr: Floats, deals: NDArray[np.integer], stakes: Stakes) -> Floats:
    """Standard errors of means, none smaller than few deals can tell.

    As in `arena.analysis.stakes.doubted` the error over n deals is at least s / n.  But s is
    pooled from the pair's own deals and what the stakes assume, which counts as one degree of
    freedom, and where all deals came out alike it is what the stakes assume alone.  What other
    pairs do must not decide how many matches this one plays.

    Args:
      stderr: any shape, NaN where not known.
      deals: same shape.
      stakes: of the game.

    Returns:
      The larger of each error and its floor; infinite where an error is not known.
    """
    counts = np.maximum(deals, 1).astype(np.float64)
    squares = (counts - 1.0) * counts * np.nan_to_num(stderr) ** 2
    pooled = np.sqrt((stakes.spread**2 + squares) / counts)
    floor = np.where(squares > 0.0, pooled, stakes.spread) / counts
    return np.where(np.isnan(stderr), np.inf, np.maximum(stderr, floor))
