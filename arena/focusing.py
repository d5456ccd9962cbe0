"""Spends a budget of matches on the pairs whose noise can still change the answer.

All pairs begin with the same few deals.  Then come rounds of a tenth of what was played, shared
out by `arena.analysis.focus` from exactly the matches of the rounds before.  So the same home
comes to the same matches wherever it was interrupted, and a larger budget goes on where a smaller
one ended.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from arena.analysis.focus import (
    Focus,
    leaderboard_weights,
    nash_weights,
    share_out,
    spreads,
)
from arena.analysis.stakes import Stakes, stakes_of
from arena.analysis.stopping import floored
from arena.errors import UsageFault
from arena.home import Home
from arena.payoffs import PayoffTable
from arena.rounds import Play, Rounds
from arena.standings import exact_payoffs
from arena.tally import Pair, PlayReport, Request

Floats = NDArray[np.float64]

FIRST_DEALS = 4
"""That every pair begins with."""
_GROWTH = 0.1


def check_focus(
    focus: object, budget: int | None, *, only: Collection[str], precision: float | None
) -> None:
    """Refuses what does not go with a focus, or with a budget.

    Raises:
      UsageFault: one of the two is given without the other, or with what does not go with them.
    """
    if focus is None and budget is None:
        return
    if focus is None or budget is None or only or precision is not None:
        raise UsageFault("a focus and a budget go together, for everybody, and without a precision")


def play_with_focus(
    home: Home,
    play: Play,
    request: Request,
    focus: Focus,
    budget: int,
    population: Collection[str],
) -> PlayReport:
    """Plays a round robin as far as a budget goes, first where it can change the answer.

    Args:
      home: where matches are stored.
      play: plays one round.
      request: `wanted` are all pairs of some policies, and the most matches that each may get.
      focus: what the budget is to decide.
      budget: matches in all, those that are stored already included.
      population: digests of the evaluation population.

    Raises:
      UsageFault: the budget does not reach for the first deals of all pairs, or nobody of the
        population plays; or see `arena.runner.Runner.play`.
    """
    span = 2 if request.game.has_deals else 1
    pairs = list(request.wanted)
    most = np.array([-(-request.wanted[pair] // span) for pair in pairs], np.int64)
    deals = np.minimum(most, FIRST_DEALS)
    if budget < span * deals.sum():
        raise UsageFault(
            f"a budget of {budget:,} matches is less than the first {FIRST_DEALS * span} of each "
            f"of the {len(pairs):,} pairs: ask for {span * int(deals.sum()):,} or more"
        )
    digests = sorted({digest for pair in pairs for digest in pair})
    members = np.array([k for k, one in enumerate(digests) if one in population], np.int64)
    if focus is Focus.LEADERBOARD and not len(members):
        raise UsageFault(
            "nobody of the evaluation population plays: there is no AggScore to decide"
        )
    rounds = Rounds(play, request)
    while len(pairs):
        wanted = {
            pair: min(count * span, request.wanted[pair])
            for pair, count in zip(pairs, deals.tolist(), strict=True)
        }
        if not rounds.play(wanted):
            break
        ends = np.array([rounds.quarantined(pair) for pair in pairs])
        room = np.where(ends, deals, most)
        step = min(max(1, int(_GROWTH * deals.sum())), budget // span - int(deals.sum()))
        if step < 1 or (room <= deals).all():
            break
        table = exact_payoffs(home, request.game, digests, wanted, request.first)
        need = _needs(table, pairs, focus, members, stakes_of(request.game))
        before, deals = deals, share_out(need, deals, room, step)
        if (deals == before).all():
            break
    return rounds.report()


def _needs(
    table: PayoffTable,
    pairs: list[Pair],
    focus: Focus,
    members: NDArray[np.int64],
    stakes: Stakes,
) -> Floats:
    """(pairs,) weight times spread of a deal."""
    error = floored(table.stderr, table.deals, stakes)
    np.fill_diagonal(error, 0.0)
    deals = table.deals.astype(np.int64)
    weights = (
        leaderboard_weights(table.mean, error, deals, members)
        if focus is Focus.LEADERBOARD
        else nash_weights(table.mean, error)
    )
    index = table.index()
    rows = np.array([index[pair[0]] for pair in pairs])
    columns = np.array([index[pair[1]] for pair in pairs])
    need: Floats = weights[rows, columns] * spreads(error[rows, columns], deals[rows, columns])
    return need
