"""Whether anything has changed: a word for what a home holds, cheap enough for every request."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from pathlib import Path

import sqlalchemy as sa

from arena.home import Home
from arena.home_marker import MATCHES
from arena.store import files

_POSTGRES = sa.text("select pg_current_wal_insert_lsn()::text")
"""Moves with every write of the whole server: too often is as good as often enough."""


class StateOfHome:
    """A word that changes whenever the registry or the store does.  Safe for many threads.

    SQLite counts the changes of others (`data_version`), PostgreSQL has the place in its log, and
    the store's files have their times.
    """

    def __init__(self, home: Home) -> None:
        self._home, self._lock = home, threading.Lock()
        self._matches = home.path / MATCHES
        self._registry: sqlite3.Connection | None = None
        database = home.registry.database
        if database.engine.dialect.name == "sqlite":
            path = Path(database.where).resolve()
            self._registry = sqlite3.connect(
                f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False
            )

    def word(self) -> str:
        """The word, 16 hexadecimal digits."""
        told = f"{self.of_registry()}|{files.state_of(self._matches)}"
        return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()

    def of_registry(self) -> str:
        """A word that changes with the registry, the audit log and what authors spend.

        Raises:
          RegistryUnavailable: its server is away.
        """
        if self._registry is None:
            with self._home.registry.database.reading() as session:
                return str(session.execute(_POSTGRES).scalar_one())
        with self._lock:
            (version,) = self._registry.execute("pragma data_version").fetchone()
        return str(version)

    def close(self) -> None:
        """Closes its connection."""
        if self._registry is not None:
            with self._lock:
                self._registry.close()
