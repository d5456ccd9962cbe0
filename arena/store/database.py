"""One DuckDB file, opened for moments under the store's lock.

Nothing in the file is trusted: what lies at its path, what its catalog holds and whether its
tables refer to each other are looked at before anything else is read, again whenever somebody
else changed the file, and the connection can reach nothing outside it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import duckdb

from arena.store import files, schema, soundness
from arena.store.catalog import Connection
from arena.store.errors import StoreCorrupt, StoreError, StoreUnwritable, reading_of
from arena.store.instances import Instances
from arena.store.lock import StoreLock


class Database:
    """Short connections to the file at `path`, which is created by the first access."""

    def __init__(self, path: Path, timeout: float) -> None:
        """`timeout` in seconds is how long an access waits for other processes."""
        self.path = path.absolute()  # one store, wherever the process goes
        self._lock = StoreLock(self.path, timeout)
        self._instances = Instances(self.path)
        self._inspected: files.State | None = None

    @contextmanager
    def reading(self, *, kept: bool = True) -> Iterator[Connection]:
        """A read-only connection; other readers may have one too.

        Works where neither file nor folder may be written, as long as the store exists.

        Args:
          kept: as for `Instances.attached`.

        Raises:
          StoreError: as in `arena.store.errors`.
        """
        for _ in range(2):
            if files.is_file(self.path):
                with self._lock.shared(), self._inspecting(kept) as connection:
                    if schema.version_of(connection, self.path) == schema.VERSION:
                        yield connection
                        return
            with self.writing():
                pass  # creates the file, or brings it up to date
        raise self._exchanged()

    def copied(self, target: Path) -> tuple[Path, ...]:
        """Copies the file, and its logs where it has any, while nobody writes.

        Raises:
          StoreError: as in `arena.store.errors`.
        """
        if not files.is_file(self.path):
            return ()
        with self._lock.shared():
            there = [
                end for end in ("", *files.LOGS) if files.is_file(files.beside(self.path, end))
            ]
            return tuple(
                shutil.copyfile(files.beside(self.path, end), files.beside(target, end))
                for end in there
            )

    @contextmanager
    def writing(self, *, kept: bool = True) -> Iterator[Connection]:
        """The only connection, inside a transaction that is committed when the block ends well.

        Args:
          kept: as for `Instances.attached`.

        Raises:
          StoreError: as in `arena.store.errors`; then nothing of the block was stored.
        """
        self._make_folder()
        with self._lock.exclusive():
            if not files.is_file(self.path):
                self._create()
            if self._inspected != files.state_of(self.path):
                # Read-only: to close a file that was opened to be written may write into it.
                with self._inspecting():
                    pass
            with self._connection(read_only=False, kept=kept) as connection:
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
            self._inspected = files.state_of(self.path)

    @contextmanager
    def _inspecting(self, kept: bool = True) -> Iterator[Connection]:
        """A read-only connection to a file that was inspected as it is now; under a lock."""
        state, before = files.state_of(self.path), self._inspected
        if state is None:
            raise self._exchanged()
        with self._connection(read_only=True, kept=kept) as connection:
            if state != before:
                with self._telling(opening=True):
                    schema.inspect(connection, self.path)
                    # Its cost grows with the store: once, not after every batch of others.
                    if before is None or not state.of_same_file(before):
                        soundness.check(connection, self.path, state.size)
                self._inspected = state
            yield connection

    def _exchanged(self) -> StoreError:
        return StoreError(
            f"{self.path} was exchanged while it was opened; run again, and let no other program "
            f"write there"
        )

    @contextmanager
    def _connection(
        self, *, read_only: bool, kept: bool = True, instances: Instances | None = None
    ) -> Iterator[Connection]:
        with ExitStack() as stack:
            with self._telling(opening=True):
                chosen = instances or self._instances
                connection = stack.enter_context(chosen.attached(read_only=read_only, kept=kept))
            with self._telling(opening=False), stack.pop_all():
                yield connection

    @contextmanager
    def _telling(self, *, opening: bool) -> Iterator[None]:
        """Turns DuckDB's errors into the store's where the file is to blame."""
        try:
            yield
        except (duckdb.Error, UnicodeDecodeError) as error:
            ours = reading_of(error, self.path, opening=opening)
            if ours is None:
                raise
            raise ours from error

    def _create(self) -> None:
        """Makes the file under another name first: it is never seen half made."""
        for log in (files.beside(self.path, ending) for ending in files.LOGS):
            if files.is_file(log):
                raise StoreCorrupt(
                    f"{log} is the log of a match store that is not there: bring {self.path} back, "
                    f"or move the log away to start an empty one"
                )
        newborn = files.beside(self.path, ".new")
        for leftover in (newborn, *(files.beside(newborn, ending) for ending in files.LOGS)):
            try:
                leftover.unlink(missing_ok=True)
            except OSError as error:
                raise StoreUnwritable(
                    f"{leftover} is in the way of a new match store and cannot be removed "
                    f"({error.strerror}): move it away"
                ) from error
        only = Instances(newborn)
        with self._connection(read_only=False, kept=False, instances=only) as connection:
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
