"""Payoff tables and leaderboards of a home: the same functions for the command line and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from arena.analysis.leaderboard import Options, RankBy, Row, leaderboard
from arena.analysis.ratings import Rating, repetitions_to_rate, true_skill
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.payoffs import PayoffTable
from arena.tally import Pair
from registry.values import Status


def payoff_table(home: Home, game: Game, digests: Sequence[str]) -> PayoffTable:
    """The payoffs of some policies against each other, from everything that is stored."""
    chosen = list(dict.fromkeys(digests))
    stats = home.store.pair_stats(game.name, game.version, among=chosen)
    return PayoffTable.from_pair_stats(stats, chosen)


def exact_payoffs(
    home: Home, game: Game, digests: Sequence[str], wanted: Mapping[Pair, int], first: int = 0
) -> PayoffTable:
    """The payoffs of some policies from exactly the wanted matches that are stored.

    Args:
      home: where the matches are.
      game: what was played.
      digests: the policies, in the order of the table.
      wanted: how many matches of each pair count; pairs that are not named do not.
      first: repetition that they are counted from.
    """
    stats = home.store.exact_pair_stats(game, wanted, first)
    return PayoffTable.from_pair_stats(stats, tuple(digests))


def ratings(home: Home, game: Game, table: PayoffTable) -> dict[str, Rating]:
    """TrueSkill ratings from the matches among the table's policies."""
    repetitions = repetitions_to_rate(table.count)
    last = None if repetitions is None else repetitions - 1
    returns = home.store.returns_in_id_order(game.name, game.version, last)
    members = pa.array(table.digests, pa.string())
    inside = pc.and_(
        *(pc.is_in(returns.column(side).cast(pa.string()), members) for side in ("low", "high"))
    )
    return true_skill(returns.filter(inside))


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All qualified policies of a game, best first.

    Attributes:
      game: name of the game.
      unit: of all scores, per match.
      population: name of the evaluation population.
      by: what it is ordered by.
      rows: one for each version.
    """

    game: str
    unit: str
    population: str
    by: str
    rows: tuple[Row, ...]


def standings(
    home: Home, game: Game, population: Population, *, by: str = "agg_score", more: bool = False
) -> Leaderboard:
    """The leaderboard of all qualified policies.

    Args:
      home: whose registry and matches.
      game: which game.
      population: what PopReturn, PopExpl and AggScore are measured on.
      by: one of `arena.analysis.leaderboard.RANKINGS`.
      more: whether to compute Bradley-Terry, Nash mass and alpha-rank.
    """
    versions = home.registry.find(game.name, status=Status.QUALIFIED)
    table = payoff_table(home, game, [*(v.digest for v in versions), *population.digests])
    options = Options(RankBy(by), ratings(home, game, table), more)
    rows = leaderboard(versions, table, population, options)
    return Leaderboard(game.name, game.unit, population.name, by, rows)
