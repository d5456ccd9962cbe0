"""The secondary columns of a leaderboard, with what the noise leaves open of them.

Bradley-Terry points have the intervals of their own model (see `bradley_terry`).  A policy's share
in a meta-game's solution is no mean of anything, and a small error of one payoff may move it from 0
to 1.  So its interval is of tables that could have been measured instead: 39 are drawn around the
payoffs with their errors, each is solved, and the smallest and the largest share are told.  Of 39
draws and one more from the same distribution, that one lies outside in 2 of 40 cases (order
statistics; David and Nagaraja 2003, doi:10.1002/0471722162, section 7.2).  The measured payoffs
carry an error themselves, which is drawn once more here: such intervals are rather too long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.analysis.bradley_terry import ELO, bradley_terry, errors_of
from arena.analysis.estimates import Floats, freedom_of
from arena.analysis.meta_strategy import SOLVERS
from arena.analysis.stakes import Stakes, doubted
from arena.payoffs import PayoffTable

DRAWS = 39
MOST = 300
"""Policies of the largest table that is drawn and solved anew: 39 larger ones take too long."""
_SEED = 20050101
"""Of the draws: the same table has the same intervals, here and in a year."""
_TWO_SIDED = 1.959963984540054
_SOLVED = {"nash_mass": ("nash", "lp"), "alpha_rank": ("alpha-rank", "alpha-rank")}
"""Columns of shares: the solver of the number, and that of tables without errors.

The rule "nash" looks for a mixture within the noise, which a drawn table no longer has.
"""


class Ranged(NamedTuple):
    """A number and its 95 % interval; NaN where that is not known."""

    value: float
    low: float
    high: float


def secondary(
    everybody: PayoffTable, digests: Sequence[str], stakes: Stakes
) -> dict[str, dict[str, Ranged | None]]:
    """Bradley-Terry points, Nash mass and alpha-rank shares among some policies.

    Args:
      everybody: payoffs.
      digests: who takes part; those that the table lacks are left out.
      stakes: of a match.

    Returns:
      Digest -> "bradley_terry", "nash_mass" and "alpha_rank".  The last two are None for those that
      are no part of the meta-game because pairs are missing.
    """
    known = set(everybody.digests)
    table = everybody.restrict([digest for digest in digests if digest in known])
    if not table.digests:
        return {}
    columns: dict[str, dict[str, Ranged | None]] = {
        digest: {"bradley_terry": points, "nash_mass": None, "alpha_rank": None}
        for digest, points in zip(table.digests, _points(table), strict=True)
    }
    core = table.restrict(complete_core(table))
    for name, shares in _shares(core, stakes).items():
        for digest, share in zip(core.digests, shares, strict=True):
            columns[digest][name] = share
    return columns


def complete_core(table: PayoffTable) -> tuple[str, ...]:
    """Policies that all met each other, in table order.

    Whoever lacks the most opponents is left out, one after the other; among equals, the later.
    """
    lacking = np.isnan(table.mean)
    inside = np.ones(len(table.digests), dtype=bool)
    gaps = lacking.sum(axis=1)
    while gaps.size and gaps.max() > 0:
        out = len(gaps) - 1 - int(gaps[::-1].argmax())
        inside[out] = False
        gaps = np.where(inside, gaps - lacking[:, out], 0)
    return tuple(np.array(table.digests, dtype=object)[inside].tolist())


def _points(table: PayoffTable) -> list[Ranged]:
    """Elo points of Bradley and Terry, by place in the table."""
    strength = bradley_terry(table.wins, table.draws)
    reach = _TWO_SIDED * errors_of(table.wins, table.draws, strength)
    bounds = zip(strength, strength - reach, strength + reach, strict=True)
    return [Ranged(*(float(ELO * number) for number in one)) for one in bounds]


def _shares(core: PayoffTable, stakes: Stakes) -> Mapping[str, list[Ranged]]:
    """Shares in the solutions of a complete table, by column and place."""
    tables = _redrawn(core, stakes) if 0 < len(core.digests) <= MOST else []
    found = {}
    for column, (measured, exact) in _SOLVED.items():
        weights = SOLVERS[measured](core.mean, core.stderr).weights
        drawn = [SOLVERS[exact](table, np.zeros_like(table)).weights for table in tables]
        # The measured table is one that could have been measured, too.
        low = np.min([weights, *drawn], axis=0) if drawn else np.full(len(weights), np.nan)
        high = np.max([weights, *drawn], axis=0) if drawn else low
        bounds = zip(weights, low, high, strict=True)
        found[column] = [Ranged(*(float(number) for number in one)) for one in bounds]
    return found


def _redrawn(core: PayoffTable, stakes: Stakes) -> list[Floats]:
    """Tables that could have been measured; none where an error is not known.

    Returns:
      `DRAWS` times (n, n), antisymmetric, with Student's errors, within what a match can be worth.
    """
    stderr = doubted(core.stderr, core.deals, core.scatter, stakes)
    np.fill_diagonal(stderr := stderr.copy(), 0.0)
    if np.isnan(stderr).any():
        return []
    rng = np.random.default_rng(_SEED)
    freedom = np.maximum(freedom_of(core.deals), 1.0)
    upper = np.triu(np.ones_like(stderr), 1)
    tables = []
    for _ in range(DRAWS):
        noise = upper * stderr * rng.standard_t(freedom)
        tables.append(np.clip(core.mean + noise - noise.T, -stakes.most, stakes.most))
    return tables
