"""TrueSkill ratings, computed beside the pages: a million matches take seconds to fold.

They are provisional anyway, so a page shows the latest that are ready and a thread brings them up
to date.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.analysis.ratings import Rating
from arena.games.protocol import Game
from arena.home import Home
from arena.payoffs import PayoffTable
from arena.standings import ratings

FIRST_WAIT_SECONDS = 0.4
"""How long the first visitor waits; enough for the homes that most people have."""
REST_SECONDS = 10.0
"""Between two computations while matches keep coming in."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings by digest; `serial` rises with each new set, 0 is the empty one before the first."""

    by_digest: Mapping[str, Rating] = field(default_factory=dict)
    serial: int = 0


@dataclass(slots=True)
class _Latest:
    """What is known of one game at one home."""

    stamp: str = ""
    found: Ratings = field(default_factory=Ratings)
    thread: threading.Thread | None = None
    finished: float = 0.0


class LiveRatings:
    """The latest ratings of each game; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: dict[tuple[str, str], _Latest] = {}

    def get(self, home: Home, game: Game, table: PayoffTable, stamp: str) -> Ratings:
        """The ratings that are ready, and starts bringing them up to date where they are old.

        Args:
          home: whose matches.
          game: which game.
          table: of the policies to rate.
          stamp: the store's fingerprint.

        Returns:
          Ratings, never edited afterwards; serial 0 while the first are being computed.
        """
        with self._lock:
            latest = self._latest.setdefault((str(home.path), game.name), _Latest())
            rested = time.monotonic() - latest.finished > REST_SECONDS or not latest.found.serial
            if latest.stamp != stamp and latest.thread is None and rested:
                latest.thread = threading.Thread(
                    target=self._compute, args=(latest, home, game, table, stamp), daemon=True
                )
                latest.thread.start()
            thread = latest.thread if not latest.found.serial else None
        if thread is not None:
            thread.join(FIRST_WAIT_SECONDS)
        return latest.found

    def finish(self) -> None:
        """Waits for what is being computed."""
        with self._lock:
            threads = [latest.thread for latest in self._latest.values() if latest.thread]
        for thread in threads:
            thread.join()

    def _compute(
        self, latest: _Latest, home: Home, game: Game, table: PayoffTable, stamp: str
    ) -> None:
        found: Mapping[str, Rating] | None = None
        try:
            found = ratings(home, game, table)
        finally:
            with self._lock:
                latest.thread, latest.finished = None, time.monotonic()
                if found is not None:
                    latest.found = Ratings(found, latest.found.serial + 1)
                    latest.stamp = stamp
