"""Notices when a policy has a rank for the first time, and has its author told."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from arena.analysis.leaderboard import Row
from arena.errors import KNOWN
from arena.games import GAMES
from arena.games.protocol import Game
from arena.home import Home
from arena.record import Record
from arena.server.bell import of_account
from arena.server.notifications import Notifications, Rank
from arena.server.state import StateOfHome
from registry.naming import RESERVED_AUTHORS, author_of
from registry.values import Status

_log = logging.getLogger("arena.server")
LOOK_SECONDS = 5.0
"""Between two looks, of which each may compute a leaderboard."""
_SHARE = 20.0
"""Looks take at most one such part of the job runner's time, however large a leaderboard is."""


class Ranks:
    """Looks at leaderboards now and then, while somebody waits for a rank.

    For one thread.  Who has a rank already when a home is served for the first time
    is not told of.

    Args:
      home: whose leaderboards.
      notifications: tells.
      ring: called with a key of the bell when somebody is told something.
    """

    def __init__(
        self, home: Home, notifications: Notifications, ring: Callable[[str], None]
    ) -> None:
        self._home, self._notifications, self._ring = home, notifications, ring
        self._state, self._seen = StateOfHome(home), ""
        self._not_before = 0.0
        self._first = notifications.none_ranked()

    def look(self) -> None:
        """Looks where that is due, and tells whose policies have a rank now."""
        began = time.monotonic()
        if began < self._not_before:
            return
        try:
            state = self._state.word()
            for game in GAMES.values() if state != self._seen else ():
                self._look_at(game)
            self._seen, self._first = state, False
        except KNOWN as error:  # looked at again when it is due
            _log.warning("nobody is told of ranks: %s", error)
        now = time.monotonic()
        self._not_before = now + max(LOOK_SECONDS, _SHARE * (now - began))

    def _look_at(self, game: Game) -> None:
        entrants = self._home.registry.find(game.name, status=Status.QUALIFIED)
        waiting = self._notifications.unranked(
            game.name,
            (
                one.ref
                for version in entrants
                for one in version.credits
                if one.status is Status.QUALIFIED and author_of(one.name) not in RESERVED_AUTHORS
            ),
        )
        if not waiting:
            return
        rows = Record(self._home).leaderboard(game).rows
        count = sum(row.rank is not None for row in rows)
        found = [
            Rank(game.name, author_of(ref), ref, _told(row, count))
            for row in rows
            if row.rank is not None
            for ref in (row.ref, *row.also)
            if ref in waiting
        ]
        self._notifications.ranked(found, tell=not self._first)
        for name in {"", *(one.author for one in found)}:
            self._ring(of_account(name))

    def close(self) -> None:
        """Closes what it opened."""
        self._state.close()


def _told(row: Row, count: int) -> dict[str, object]:
    return {
        "digest": row.digest,
        "rank": row.rank,
        "rank_low": row.rank_low,
        "rank_high": row.rank_high,
        "of": count,
        "provisional": row.provisional,
    }
