"""Payoff tables and leaderboards of a home: the same functions for the command line and pages."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from arena.analysis.leaderboard import Options, RankBy, Row, leaderboard
from arena.analysis.ratings import Rating, repetitions_to_rate, true_skill
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.payoffs import PayoffTable
from registry.values import Status


def payoff_table(home: Home, game: Game, digests: Sequence[str]) -> PayoffTable:
    """The payoffs of some policies against each other, from everything that is stored."""
    chosen = list(dict.fromkeys(digests))
    stats = home.store.pair_stats(game.name, game.version, among=chosen)
    return PayoffTable.from_pair_stats(stats, chosen)


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


def standings(
    home: Home, game: Game, population: Population, *, by: str = "agg_score", more: bool = False
) -> tuple[Row, ...]:
    """The leaderboard of all qualified policies, best first.

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
    return leaderboard(versions, table, population, options)
