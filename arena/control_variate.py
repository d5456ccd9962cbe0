"""Payoffs with the luck taken off: the same means, known more precisely from the same matches.

What luck was worth in each hand says `arena.analysis.aivat`.  A tabular policy is its own model,
and its choices are known.  Whoever else plays is modelled by how often it acted how in each
information state, mixed with an equilibrium where that was seldom.  A model must not know the
matches that it corrects: then what it calls luck would not be zero on average.  So deals of even
number are corrected by models from those of odd number, and the other way round.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena.analysis.aivat import luck
from arena.analysis.stakes import stakes_of
from arena.errors import UsageFault
from arena.games.hand_game import HandGame
from arena.games.hand_tree import HandTree, hand_tree
from arena.games.protocol import Game
from arena.home import Home
from arena.kinds.tabular import states_of
from arena.mixing import mixtures_among, through_members, with_mixtures
from arena.payoffs import PayoffTable
from arena.tally import Pair
from arena.values import Result

Floats = NDArray[np.float64]

_PRIOR = 4.0
"""Actions in an information state that the equilibrium counts for in a model."""
_PRIOR_DEALS = 2.0
"""Deals that "take all of it off" counts for in `_part`."""


def without_luck(
    home: Home, game: Game, digests: Sequence[str], pairs: Iterable[Pair] | None = None
) -> PayoffTable:
    """The payoffs of some policies from all matches that count, each without its luck.

    Those of mixtures are put together from their members' (`arena.mixing`).

    Every match's moves are read, so this takes time in proportion to the matches: about 500 a
    second.

    Args:
      home: where the matches are.
      game: what was played.
      digests: the policies, in the order of the table.
      pairs: of them, those that are wanted; by default all.

    Returns:
      A table whose means have the same expectations as those of `arena.standings.payoff_table`.
      Counts of wins, draws, losses and forfeits are of the real returns.  It has no `around`:
      how much deals differ without luck is known of the pairs in the table alone, so where few
      were asked for, the floor of few deals' errors (`arena.analysis.stakes`) rests on few.

    Raises:
      UsageFault: the game has no control variate.
    """
    hands = has_luck(game)
    space = hands.states
    tree = hand_tree(hands, space)
    chosen = tuple(dict.fromkeys(digests))
    if pairs is None:
        pairs = [(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]
    mixtures, everybody = mixtures_among(home.registry, game.name, chosen)
    pairs = through_members(dict.fromkeys(pairs, 1), mixtures)
    versions = home.registry.by_digests(sorted(everybody))
    tables = {
        digest: tree.table(states_of(space, version.payload))
        for digest, version in versions.items()
        if version.kind == "tabular"
    }
    read, prior = _Reader(home, hands, tree), tree.table(hands.equilibrium)
    rows: list[dict[str, Any]] = []
    for one, other in dict.fromkeys((min(pair), max(pair)) for pair in pairs):
        results = home.store.meetings(game, (one, other))
        matches = [read.match(result) for result in results]
        known = (tables.get(one), tables.get(other))
        rows += _sums(one, other, corrected(tree, matches, known, prior), matches)
    table = PayoffTable.from_pair_stats(pa.Table.from_pylist(rows, _COLUMNS), everybody)
    return with_mixtures(table, mixtures, stakes_of(game)).restrict(chosen)


_NOTHING = 1e-6
"""A standard error in units a match that is no more than rounding."""


def variance_saved(plain: PayoffTable, reduced: PayoffTable) -> Floats:
    """(n, n) the variance of plain means over that of the reduced ones, from the same matches.

    Infinite where nothing is left to luck, NaN where an error is not known or there was no luck.
    """
    left = np.where(reduced.stderr > _NOTHING, reduced.stderr, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        saved: Floats = (plain.stderr / left) ** 2
    return saved


def has_luck(game: Game) -> HandGame[Any]:
    """The same game, whose luck can be told.

    Raises:
      UsageFault: nothing is dealt in it.
    """
    if not isinstance(game, HandGame):
        raise UsageFault(f"{game.name} has no control variate: nothing is dealt in it")
    return game


@dataclass(frozen=True, slots=True, eq=False)
class PlayedHands:
    """The hands of one match as numbers.

    Attributes:
      result: of the match.
      deal: number of the match's deal.
      low_first: (hands,) whether the policy with the smaller digest was player 0.
      at: (hands,) number of the point where each hand ended, times the deals, plus its cards.
    """

    result: Result
    deal: int
    low_first: NDArray[np.bool_]
    at: NDArray[np.intp]


class _Reader:
    def __init__(self, home: Home, game: HandGame[Any], tree: HandTree) -> None:
        self._game, self._tree = game, tree
        self._seeds = functools.cache(home.seeds)

    def match(self, result: Result) -> PlayedHands:
        """Cuts a record into its hands."""
        seed = self._seeds(result.season).deal(result.match)
        low_seat = result.match.repetition % 2
        place, deals = self._tree.place, self._tree.deals
        hands = list(self._game.hands(seed, result.moves, result.fault_seat))
        return PlayedHands(
            result,
            result.match.deal,
            np.array([hand.flip == low_seat for hand in hands], bool),
            np.array([place[hand.actions] * deals + hand.deal for hand in hands], np.intp),
        )


def corrected(
    tree: HandTree,
    matches: Sequence[PlayedHands],
    known: tuple[Floats | None, Floats | None],
    prior: Floats,
) -> Floats:
    """(matches,) returns of the policy with the smaller digest, without luck.

    Args:
      tree: of a hand.
      matches: of one pair.
      known: tables of the two policies, the smaller digest first; None where not known.
      prior: (states, actions) what models are mixed with.
    """
    returns = np.array([match.result.return_low for match in matches])
    found = np.zeros(len(matches))
    both_known = all(table is not None for table in known)
    for half in (0, 1):
        others = [match for match in matches if match.deal % 2 != half]
        low, high = (
            _model(tree, others, side, prior) if table is None else table
            for side, table in enumerate(known)
        )
        first = luck(tree, (low, high), known).ravel()
        second = luck(tree, (high, low), known[::-1]).ravel()
        chances = np.array(
            [np.where(m.low_first, first[m.at], -second[m.at]).sum() for m in matches]
        )
        mine = np.array([match.deal % 2 == half for match in matches], bool)
        part = 1.0 if both_known else _part(others, chances[~mine])
        found[mine] = returns[mine] - part * chances[mine]
    return found


def _part(matches: Sequence[PlayedHands], chances: Floats) -> float:
    """How much of what is called luck to take off: about as much as leaves the least variance.

    It comes from other matches than those that are corrected, so that it changes no mean.  Where
    duplicate deals have cancelled luck already, models that are a little wrong would only add
    noise.  A few deals' worth of "all of it" keeps it from following noise itself.
    """
    if not matches:
        return 1.0
    _, deal = np.unique([match.deal for match in matches], return_inverse=True)
    won = np.bincount(deal, [match.result.return_low for match in matches])
    luck_of = np.bincount(deal, chances)
    luck_of = luck_of - luck_of.mean()
    size = float((luck_of**2).sum())
    prior = _PRIOR_DEALS * size / len(luck_of)
    if size == 0.0:
        return 1.0
    return float(np.clip(((won * luck_of).sum() + prior) / (size + prior), 0.0, 1.0))


def _model(tree: HandTree, matches: Sequence[PlayedHands], side: int, prior: Floats) -> Floats:
    """(states, actions) how one of the two acted in some matches, mixed with the prior."""
    counts = _PRIOR * prior
    for player in (0, 1):
        ended = np.zeros(len(tree.points) * tree.deals)
        for match in matches:
            mine = match.at[match.low_first == (player == side)]
            ended += np.bincount(mine, minlength=len(ended))
        # A hand came through every point before its end.
        through = ended.reshape(len(tree.points), tree.deals)
        for number in reversed(range(len(tree.points))):
            point = tree.points[number]
            for action, after in point.after.items():
                if point.actor == player:
                    counts[:, action] += np.bincount(
                        point.states, through[after], minlength=len(counts)
                    )
                through[number] += through[after]
    model: Floats = counts / counts.sum(axis=1, keepdims=True)
    return model


_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("low", "high")),
        ("half", pa.uint8()),
        *((name, pa.float64()) for name in ("total", "deal_squares", "deal_cross")),
        *(
            (name, pa.int64())
            for name in (
                *("matches", "deals", "deal_sizes"),
                *("wins", "draws", "losses", "forfeits_low", "forfeits_high"),
            )
        ),
    ]
)
"""As `MatchStore.pair_stats` calls them."""


def _sums(
    low: str, high: str, returns: Floats, matches: Sequence[PlayedHands]
) -> list[dict[str, Any]]:
    """Rows of pair statistics with these returns instead of those that are stored."""
    rows = []
    for half in (0, 1):
        mine = [place for place, match in enumerate(matches) if match.deal % 2 == half]
        if not mine:
            continue
        _, deal = np.unique([matches[place].deal for place in mine], return_inverse=True)
        sums, sizes = np.bincount(deal, returns[mine]), np.bincount(deal)
        results = [matches[place].result for place in mine]
        real = np.array([result.return_low for result in results])
        faults = [
            None if result.fault_seat is None else result.match.seats[result.fault_seat]
            for result in results
        ]
        rows.append(
            {
                "low": low,
                "high": high,
                "half": half,
                "matches": len(mine),
                "total": float(returns[mine].sum()),
                "deals": len(sums),
                "deal_squares": float((sums**2).sum()),
                "deal_cross": float((sums * sizes).sum()),
                "deal_sizes": int((sizes**2).sum()),
                "wins": int((real > 0).sum()),
                "draws": int((real == 0).sum()),
                "losses": int((real < 0).sum()),
                "forfeits_low": faults.count(low),
                "forfeits_high": faults.count(high),
            }
        )
    return rows
