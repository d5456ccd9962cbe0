"""Spends a budget of matches on the pairs whose noise can still change the answer.

All pairs begin with the same few deals.  Then come rounds of a tenth of what was played, shared
out by `arena.analysis.focus` from exactly the matches of the rounds before.  So the same home
comes to the same matches wherever it was interrupted, and a larger budget goes on where a smaller
one ended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

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
from arena.errors import UsageFault, one_of
from arena.home import Home
from arena.mixing import through_members, with_mixtures
from arena.nesting import Weights
from arena.payoffs import PayoffTable
from arena.rounds import Play, Rounds
from arena.standings import exact_payoffs
from arena.tally import Pair, PlayReport, Request

Floats = NDArray[np.float64]

FIRST_DEALS = 4
"""That every pair begins with."""
_GROWTH = 0.1


def check_focus(
    focus: str | None, budget: int | None, *, only: Collection[str], precision: float | None
) -> None:
    """Refuses what does not go with a focus, or with a budget.

    Raises:
      UsageFault: one of the two is given without the other, or with what does not go with them,
        or there is no such focus.
    """
    if focus is None and budget is None:
        return
    if focus is None or budget is None or only or precision is not None:
        raise UsageFault("a focus and a budget go together, for everybody, and without a precision")
    one_of(Focus, focus)


def play_with_focus(
    home: Home,
    play: Play,
    request: Request,
    focus: Focus,
    budget: int,
    population: Collection[str],
    mixtures: Mapping[str, Weights] = MappingProxyType({}),
) -> PlayReport:
    """Plays a round robin as far as a budget goes, first where it can change the answer.

    In the places of mixtures their members play.  The answer is about the entrants: members that
    are none of them matter for the mixtures that they play for.

    Args:
      home: where matches are stored.
      play: plays one round.
      request: `wanted` are all pairs of the entrants, and the most matches that each may get.
      focus: what the budget is to decide.
      budget: matches in all, those that are stored already included.
      population: digests of the evaluation population.
      mixtures: digest to the weights of the members.

    Raises:
      UsageFault: the budget does not reach for the first deals of all pairs, or nobody of the
        population plays; or see `arena.runner.Runner.play`.
    """
    span = 2 if request.game.has_deals else 1
    shares = through_members(request.wanted, mixtures)
    pairs = list(shares)
    most = np.array([-(-shares[pair] // span) for pair in pairs], np.int64)
    deals = np.minimum(most, FIRST_DEALS)
    if budget < span * deals.sum():
        raise UsageFault(
            f"a budget of {budget:,} matches is less than the first {FIRST_DEALS * span} of each "
            f"of the {len(pairs):,} pairs: ask for {span * int(deals.sum()):,} or more"
        )
    entrants = sorted({digest for pair in request.wanted for digest in pair})
    if focus is Focus.LEADERBOARD and not set(entrants) & set(population):
        raise UsageFault(
            "nobody of the evaluation population plays: there is no AggScore to decide"
        )
    matter = _Needs(entrants, mixtures, population, focus, stakes_of(request.game))
    rounds = Rounds(play, request)
    while len(pairs):
        wanted = {
            pair: min(count * span, shares[pair])
            for pair, count in zip(pairs, deals.tolist(), strict=True)
        }
        if not rounds.play(wanted):
            break
        ends = np.array([rounds.quarantined(pair) for pair in pairs])
        room = np.where(ends, deals, most)
        step = min(max(1, int(_GROWTH * deals.sum())), budget // span - int(deals.sum()))
        if step < 1 or (room <= deals).all():
            break
        table = exact_payoffs(home, request.game, matter.players, wanted, request.first)
        need = matter.of(table, pairs)
        before, deals = deals, share_out(need, deals, room, step)
        if (deals == before).all():
            break
    return rounds.report()


class _Needs:
    """How much each pair of players matters for an answer about the entrants.

    Args:
      entrants: whom the answer is about.
      mixtures: digest to the weights of the members.
      population: digests of the evaluation population.
      focus: what is to be answered.
      stakes: of a match.
    """

    def __init__(
        self,
        entrants: list[str],
        mixtures: Mapping[str, Weights],
        population: Collection[str],
        focus: Focus,
        stakes: Stakes,
    ) -> None:
        self._entrants, self._focus, self._stakes = entrants, focus, stakes
        self._mixed = {one: mixtures[one] for one in entrants if one in mixtures}
        players = {one for one in entrants if one not in self._mixed}
        players |= {member for weights in self._mixed.values() for member in weights}
        self.players = tuple(sorted(players))
        self._members = np.array(
            [place for place, one in enumerate(entrants) if one in population], np.int64
        )
        place = {one: number for number, one in enumerate(self.players)}
        self._parts = np.zeros((len(entrants), len(self.players)))
        for row, one in enumerate(entrants):
            for player, weight in self._mixed.get(one, {one: 1.0}).items():
                self._parts[row, place[player]] = weight

    def of(self, table: PayoffTable, pairs: list[Pair]) -> Floats:
        """(pairs,) weight times spread of a deal.

        Args:
          table: of `players`; all pairs have met.
          pairs: of players.
        """
        error = floored(table.stderr, table.deals, self._stakes)
        np.fill_diagonal(error, 0.0)
        known = with_mixtures(replace(table, stderr=error), self._mixed).restrict(self._entrants)
        weights = (
            leaderboard_weights(
                known.mean, known.stderr, known.deals.astype(np.int64), self._members
            )
            if self._focus is Focus.LEADERBOARD
            else nash_weights(known.mean, known.stderr)
        )
        # A variance of an entrants' payoff is that of its players', times the squares of shares.
        squares = self._parts.T**2 @ weights**2 @ self._parts**2
        index = table.index()
        rows = np.array([index[pair[0]] for pair in pairs])
        columns = np.array([index[pair[1]] for pair in pairs])
        deals = table.deals.astype(np.int64)[rows, columns]
        need: Floats = np.sqrt(squares[rows, columns]) * spreads(error[rows, columns], deals)
        return need
