"""The secondary columns of a leaderboard, with what the noise leaves open of them.

Bradley-Terry points have the intervals of their own model (see `bradley_terry`).  A policy's share
in a meta-game's solution is no mean of anything, and a small error of one payoff may move it from 0
to 1.  So its interval is of tables that could have been measured instead: 39 are drawn around the
payoffs with their errors, each is solved, and the smallest and the largest share are told, the
measured one included.  Of 39 draws and one more from the same distribution, that one lies outside
in 2 of 40 cases (order statistics; David and Nagaraja 2003, doi:10.1002/0471722162, chapter 7).
The measured payoffs carry an error themselves, which is drawn once more here: such intervals are
rather too long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.analysis.bradley_terry import ELO, bradley_terry, errors_of
from arena.analysis.estimates import Estimate, Floats, around, freedom_of
from arena.analysis.meta_game import complete
from arena.analysis.meta_strategy import SOLVERS
from arena.analysis.stakes import Stakes, doubted
from arena.payoffs import PayoffTable

DRAWS = 39
MOST = 100
"""Policies of the largest table that is drawn and solved anew: 39 larger ones take too long."""
_SEED = 20050101
"""Of the draws: the same table has the same intervals, here and in a year."""
_SOLVED = {"nash_mass": ("nash", "lp"), "alpha_rank": ("alpha-rank", "alpha-rank")}
"""Columns of shares: the solver of the number, and that of tables without errors.

The rule "nash" looks for a mixture within the noise, which a drawn table no longer has.
"""


def secondary(
    everybody: PayoffTable, digests: Sequence[str], stakes: Stakes
) -> dict[str, dict[str, Estimate | None]]:
    """Bradley-Terry points, Nash mass and alpha-rank shares among some policies.

    Args:
      everybody: payoffs.
      digests: who takes part; those that the table lacks are left out.
      stakes: of a match.

    Returns:
      Digest -> "bradley_terry", "nash_mass" and "alpha_rank".  The last two are None for those that
      are no part of the meta-game because pairs are missing; where their interval is not known it
      is NaN, and so is their standard error always.
    """
    index = everybody.index()
    known = [digest for digest in digests if digest in index]
    if not known:
        return {}
    places = np.array([index[digest] for digest in known], dtype=np.intp)
    points = _points(_among(everybody.wins, places), _among(everybody.draws, places))
    columns: dict[str, dict[str, Estimate | None]] = {
        digest: {"bradley_terry": estimate, "nash_mass": None, "alpha_rank": None}
        for digest, estimate in zip(known, points, strict=True)
    }
    core = places[complete(np.isnan(_among(everybody.mean, places)))]
    for name, shares in _shares(everybody, core, stakes).items():
        for place, share in zip(core.tolist(), shares, strict=True):
            columns[everybody.digests[place]][name] = share
    return columns


def complete_core(table: PayoffTable) -> tuple[str, ...]:
    """Policies that all met each other, in table order; see `meta_game.complete`."""
    inside = complete(np.isnan(table.mean))
    return tuple(np.array(table.digests, dtype=object)[inside].tolist())


def _among(matrix: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """Rows and columns of some places; of thousands of policies one matrix at a time is enough."""
    return matrix.take(places, axis=0).take(places, axis=1)


def _points(wins: NDArray[Any], draws: NDArray[Any]) -> list[Estimate]:
    """Elo points of Bradley and Terry, by place."""
    strength = bradley_terry(wins, draws)
    errors = errors_of(wins, draws, strength)
    found = around(ELO * strength, ELO * errors, np.full(len(strength), np.inf))
    return [found[place] for place in range(len(strength))]


def _shares(
    table: PayoffTable, core: NDArray[np.intp], stakes: Stakes
) -> Mapping[str, list[Estimate]]:
    """Shares in the solutions among policies that all met, by column and place in `core`."""
    mean, stderr = _among(table.mean, core), _among(table.stderr, core)
    # Drawn and solved by digest: who asks in another order is to be told the same intervals.
    order = np.array(sorted(range(len(core)), key=lambda one: table.digests[core[one]]), np.intp)
    tables = _redrawn(table, core[order], stakes) if 0 < len(core) <= MOST else []
    back = np.argsort(order)
    found = {}
    for column, (measured, exact) in _SOLVED.items():
        weights = SOLVERS[measured](mean, stderr).weights
        drawn = [SOLVERS[exact](one, np.zeros_like(one)).weights[back] for one in tables]
        # The measured table is one that could have been measured, too.
        low = np.min([weights, *drawn], axis=0) if drawn else np.full(len(weights), np.nan)
        high = np.max([weights, *drawn], axis=0) if drawn else low
        # A share that jumps from 0 to 1 has no standard error to speak of.
        found[column] = [
            Estimate(float(share), math.nan, float(least), float(most))
            for share, least, most in zip(weights, low, high, strict=True)
        ]
    return found


def _redrawn(table: PayoffTable, core: NDArray[np.intp], stakes: Stakes) -> list[Floats]:
    """Tables that could have been measured; none where an error is not known.

    Returns:
      `DRAWS` times (n, n), antisymmetric, with Student's errors, within what a match can be worth.
    """
    mean, deals = _among(table.mean, core), _among(table.deals, core)
    stderr = doubted(_among(table.stderr, core), deals, table.scatter, stakes)
    np.fill_diagonal(stderr, 0.0)
    if np.isnan(stderr).any():
        return []
    rng = np.random.default_rng(_SEED)
    freedom = np.maximum(freedom_of(deals), 1.0)
    upper = np.triu(np.ones_like(stderr), 1)
    tables = []
    for _ in range(DRAWS):
        noise = upper * stderr * rng.standard_t(freedom)
        tables.append(np.clip(mean + noise - noise.T, -stakes.most, stakes.most))
    return tables
