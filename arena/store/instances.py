"""DuckDB without a file, kept warm: to start it takes ten times as long as to attach a file to it.

Nothing of a file stays behind: its connection is closed with whatever temporary tables it had, and
the file is detached, which lets go of it and of what was read of it.  Only its memory allocator may
keep what was freed, so where that can be much, the instance is ended, and memory given back.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from arena.store import files
from arena.store.catalog import ATTACHED, MAIN, Connection
from arena.store.errors import StoreError

_SEALED: Mapping[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    # Else a table that is missing would be looked for among our Python variables.
    "python_enable_replacements": "false",
    # Else what is read of a hundred million matches stays in memory; beyond this, DuckDB
    # lets go of it, and puts what it sorts beside the file.  Each thread needs some 40 MiB that it
    # cannot let go of, so there are few enough to leave most of it free.
    "memory_limit": "2GiB",
    "threads": str(min(8, os.cpu_count() or 1)),
    "async_threads": "1",
}
"""Settings of every instance, beside those that name its paths."""
KEPT_BYTES = 16 * 2**20
"""Of a file and its logs: beyond, an instance is not kept, and to start one is no matter."""
MOST_IDLE = 2
"""Instances of one file that wait for the next question; each has threads and some 7 MB."""


class Instances:
    """As many as are in use at a time, for the file at one path; for several threads.

    Of two that read at once in one process, the first that lets go of the file takes the system's
    lock on it along, so programs that do not know the arena's own lock can open it meanwhile.
    """

    def __init__(self, path: Path) -> None:
        """`path` is absolute: DuckDB takes some beginnings of names for other databases."""
        self._path = path
        self._idle: list[Connection] = []
        _EVERYWHERE.add(self)

    @contextmanager
    def attached(self, *, read_only: bool, kept: bool = True) -> Iterator[Connection]:
        """A connection of its own to the file, which is its default database.

        Args:
          read_only: whether nothing can be written.
          kept: whether the instance may serve others before and after; not where somebody else's
            questions could leave something in it.

        Raises:
          duckdb.Error: the file cannot be opened; or what the block raises.
        """
        instance, detached = self._taken() if kept else self._started(), False
        try:
            how = "(read_only)" if read_only else "(read_write)"
            instance.execute(f"attach {_quoted(self._path)} as {ATTACHED} {how}")
            connection = instance.cursor()
            try:
                connection.execute(f"use {ATTACHED}.{MAIN}")
                yield connection
            finally:
                connection.close()
                # This writes the log into the file; where that fails, the log stays and counts.
                with suppress(duckdb.Error):
                    instance.execute(f"detach {ATTACHED}")
                    detached = True
        finally:
            if kept and detached and self._is_small() and len(self._idle) < MOST_IDLE:
                self._idle.append(instance)
            else:
                instance.close()

    def end_idle(self) -> None:
        """Ends those that nobody uses."""
        while self._idle:
            self._taken().close()

    def _is_small(self) -> bool:
        with suppress(StoreError):  # whatever lies there now
            state = files.state_of(self._path)
            return state is not None and state.size <= KEPT_BYTES
        return False

    def _taken(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._started()

    def _started(self) -> Connection:
        """One that can reach the file and what DuckDB keeps beside it, and nothing else."""
        places = [files.beside(self._path, ending) for ending in ("", *files.LOGS)]
        allowed = ", ".join(_quoted(place) for place in places)
        instance = duckdb.connect(":memory:", config=dict(_SEALED))
        instance.execute(f"set temp_directory = {_quoted(files.beside(self._path, files.SPILL))}")
        instance.execute(f"set allowed_paths = [{allowed}]")
        instance.execute("set enable_external_access = false")
        instance.execute("set lock_configuration = true")
        return instance


_EVERYWHERE: weakref.WeakSet[Instances] = weakref.WeakSet()


def _before_fork() -> None:
    """Ends what is idle: a copy of this process would have it without its threads, and crash."""
    for instances in list(_EVERYWHERE):
        instances.end_idle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def _quoted(path: Path) -> str:
    """A path as a text of SQL."""
    return "'" + str(path).replace("'", "''") + "'"
