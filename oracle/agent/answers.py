"""Where agents' questions and answers are kept: a file of the home, apart from CSRO's runs.

The calls are kept as those of a run (`oracle.models.journal`), under the digest of the agent.  So a
match that was interrupted goes on without paying twice, and one that is stored can be played again
with the server off.  Beside them stands which moves no answer named.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from arena.errors import ArenaError
from oracle.models.journal import SqliteJournal
from registry.sqlite_file import LOCK_SECONDS, held_alone

FILE = "agents.sqlite"
_DRAWN = """
create table if not exists drawn_move (
    scope text not null,
    seat text not null,
    move integer not null,
    primary key (scope, seat, move)
) without rowid
"""


class Answers(SqliteJournal):
    """The calls of one agent, and the moves that were drawn for want of an answer."""

    def __init__(self, folder: Path, digest: str) -> None:
        """Opens the file of a home; makes it where there is none.

        Args:
          folder: of the home.
          digest: of the agent's version.

        Raises:
          JournalUnusable: it cannot be read or written.
        """
        self._kept: sqlite3.Connection | None = None
        self._turn = threading.RLock()
        super().__init__(folder / FILE, digest)
        with self._connected() as connection:
            connection.execute(_DRAWN)

    def close(self) -> None:
        """Closes the file.  It can still be used, and is then opened again."""
        with self._turn:
            kept, self._kept = self._kept, None
            if kept is not None:
                kept.close()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """One connection for all threads: a file that is opened anew is checked and tidied up.

        A reply that was stored outlasts the program, however that ends.  Those of the last moments
        may be lost with the machine; to wait for the disk after each takes longer than many a
        model's answer.
        """
        with self._explained(), self._turn:
            if self._kept is None:
                self._kept = sqlite3.connect(
                    self.path,
                    timeout=LOCK_SECONDS,
                    isolation_level=None,
                    check_same_thread=False,
                )
                self._kept.execute("pragma synchronous = normal")
            yield self._kept

    def note_drawn(self, seat: str, move: int) -> None:
        """Notes that a move was drawn at random; noting it again changes nothing."""
        with self._connected() as connection:
            connection.execute(
                "insert or ignore into drawn_move values (?, ?, ?)", (self._scope, seat, move)
            )

    def drawn_moves(self, seat: str) -> frozenset[int]:
        """The moves of a seat that were drawn: they stay so, whatever a server would say now."""
        with self._connected() as connection:
            rows = connection.execute(
                "select move from drawn_move where scope = ? and seat = ?", (self._scope, seat)
            ).fetchall()
        return frozenset(move for (move,) in rows)

    def drawn(self) -> int:
        """How many moves were drawn, those of unfinished matches included."""
        with self._connected() as connection:
            row = connection.execute(
                "select count(*) from drawn_move where scope = ?", (self._scope,)
            ).fetchone()
        return int(row[0])


class AgentBusy(ArenaError):
    """Another process plays this agent in this home: both would pay for the same answers."""


def played_alone(folder: Path, digest: str) -> AbstractContextManager[None]:
    """Keeps other processes from playing an agent meanwhile; ends with the process, however.

    Args:
      folder: of the home.
      digest: of the agent's version.

    Raises:
      AgentBusy: one does already.
    """
    lock = folder / f"agent-{digest}.lock"
    return held_alone(
        lock,
        AgentBusy(f"another process plays this agent (it holds {lock}); wait for it, or stop it"),
    )


def seat_name(seed: int) -> str:
    """Names a seat of a match by its seed without giving the seed away: 16 hex digits."""
    return hashlib.blake2b(f"agent\x1f{seed}".encode(), digest_size=8).hexdigest()
