"""What is played while nobody waits: what is missing of the round robins."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from arena.errors import KNOWN
from arena.games import GAMES
from arena.home import Home
from arena.local import Arena
from arena.server.state import StateOfHome
from registry.values import Status

_log = logging.getLogger("arena.server")
REST_SECONDS = 30.0
"""After it failed, before it is tried again."""


class Interrupted(Exception):
    """Somebody is to be served first, or the server stops."""


class Background:
    """Plays for nobody.  For the thread that the arena belongs to.

    Args:
      arena: plays.
      matches: of each pair of a round robin; 0 for none.
    """

    def __init__(self, arena: Arena, matches: int) -> None:
        self._arena, self._home, self._matches = arena, arena.home, matches
        self._state, self._nothing_since = StateOfHome(arena.home), ""
        self._played_up_to: dict[str, str] = {}
        self._rest_until = 0.0
        self.played = 0

    @property
    def matches(self) -> int:
        """Of each pair of a round robin; 0 where nothing is played for nobody."""
        return self._matches

    def play(self, somebody_came: Callable[[], bool]) -> bool:
        """Plays what is missing of a round robin until somebody comes; False where nothing is."""
        if not self._matches or time.monotonic() < self._rest_until:
            return False
        state = self._state.of_registry()
        if state == self._nothing_since:
            return False
        for game in GAMES.values():
            field_now = _field(self._home, game.name)
            if self._played_up_to.get(game.name) == field_now:
                continue
            before = 0

            def tell(done: int, wanted: int) -> None:
                nonlocal before
                self.played += max(0, done - before)
                before = done
                if somebody_came():
                    raise Interrupted

            try:
                self._arena.play(game, self._matches, progress=tell)
                self._played_up_to[game.name] = field_now
            except Interrupted:
                pass
            except KNOWN as error:
                _log.warning("playing in the background rests: %s", error)
                self._rest_until = time.monotonic() + REST_SECONDS
            return True
        self._nothing_since = state
        return False

    def close(self) -> None:
        """Closes what it opened."""
        self._state.close()


def _field(home: Home, game: str) -> str:
    """Who takes part in a game, as a word that changes with them."""
    found = home.registry.find(game, status=Status.QUALIFIED)
    return ",".join(sorted(version.digest[:16] for version in found))
