"""Forgets what a server keeps for a week only, while it runs: a little at a time."""

from __future__ import annotations

import logging
import sqlite3
import threading

from arena.server.ledger import Ledger
from arena.server.notifications import Notifications

_log = logging.getLogger("arena.server")
LOOK_SECONDS = 600.0
"""Between two looks where nothing more is old."""
SOON_SECONDS = 1.0
"""Between two where there is."""
MOST = 200
"""Of jobs, and of notifications, at once: whoever else wants the file waits for milliseconds."""


class Pruning:
    """A thread of its own that looks for jobs and notifications that are older than they are kept.

    It is no part of the job runner's work, which may be one job for hours.

    Args:
      ledger: has the jobs.
      notifications: has the notifications.
    """

    def __init__(self, ledger: Ledger, notifications: Notifications) -> None:
        self._parts = (ledger, notifications)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="pruning", daemon=True)

    def start(self) -> None:
        """Begins, and looks at once."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the look at hand."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> bool:
        """Forgets some of what is old; whether there may be more of it."""
        try:
            return max(part.prune(MOST) for part in self._parts) == MOST
        except sqlite3.Error as error:  # a full disk: the next look may do it
            _log.warning("nothing old is forgotten: %s", error)
            return False

    def _work(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = SOON_SECONDS if self.look() else LOOK_SECONDS
