"""Payoff tables and leaderboards of a home: the same functions for the command line and pages."""

from __future__ import annotations

from collections.abc import Sequence

from arena.analysis.leaderboard import Row, leaderboard
from arena.analysis.ratings import repetitions_to_rate, true_skill
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
