"""One DuckDB file, opened for moments under the store's lock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from arena.store import schema
from arena.store.errors import StoreUnwritable, reading_of
from arena.store.lock import StoreLock


class Database:
    """Short connections to the file at `path`, which is created by the first access."""

    def __init__(self, path: Path, timeout: float) -> None:
        """`timeout` in seconds is how long an access waits for other processes."""
        self.path = path
        self._lock = StoreLock(path, timeout)

    @contextmanager
    def reading(self) -> Iterator[schema.Connection]:
        """A read-only connection; other readers may have one too.

        Works where neither file nor folder may be written, as long as the store exists.

        Raises:
          StoreError: as in `arena.store.errors`.
        """
        while True:
            if self.path.exists():
                with self._lock.shared(), self._connection(read_only=True) as connection:
                    if schema.version_of(connection, self.path) == schema.VERSION:
                        yield connection
                        return
            with self.writing():
                pass  # creates the file, or brings it up to date

    @contextmanager
    def writing(self) -> Iterator[schema.Connection]:
        """The only connection, inside a transaction that is committed when the block ends well.

        Raises:
          StoreError: as in `arena.store.errors`; then nothing of the block was stored.
        """
        self._make_folder()
        with self._lock.exclusive():
            if not self.path.exists():
                self._create()
            with self._connection(read_only=False) as connection:
                version = schema.version_of(connection, self.path)
                connection.execute("begin")
                try:
                    if version < schema.VERSION:
                        schema.migrate(connection, version)
                    yield connection
                except BaseException:
                    with suppress(duckdb.Error):  # the first error is the one to tell
                        connection.execute("rollback")
                    raise
                connection.execute("commit")

    @contextmanager
    def _connection(
        self, *, read_only: bool, path: Path | None = None
    ) -> Iterator[schema.Connection]:
        try:
            connection = duckdb.connect(str(path or self.path), read_only=read_only)
            try:
                yield connection
            finally:
                # Closing writes the log into the file; where that fails, the log stays and counts.
                connection.close()
        except duckdb.Error as error:
            ours = reading_of(error, self.path)
            if ours is None:
                raise
            raise ours from error

    def _create(self) -> None:
        """Makes the file under another name first: it is never seen half made."""
        newborn = self.path.with_name(self.path.name + ".new")
        for leftover in (newborn, newborn.with_name(newborn.name + ".wal")):
            leftover.unlink(missing_ok=True)
        with self._connection(read_only=False, path=newborn) as connection:
            connection.execute("begin")
            schema.migrate(connection, 0)
            connection.execute("commit")
            connection.execute("checkpoint")
        os.replace(newborn, self.path)

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnwritable(
                f"the folder {self.path.parent} of the match store cannot be made "
                f"({error.strerror}): name another home or check its permissions"
            ) from error
