"""One database behind the registry, SQLite or PostgreSQL: transactions and what can go wrong.

Writers take turns: SQLite's `BEGIN IMMEDIATE`, on PostgreSQL an advisory lock that lasts as
long as the transaction.  So whatever a writer reads first (the highest number of a name) still
holds when it writes.  Readers see one consistent state and never wait for writers.

SQLite connections are opened for each transaction and never kept: a kept one would not survive
a fork, and a registry whose folder turns read-only could not be read any more.

A registry keeps secrets.  An SQLite file that is made here can be read by its owner alone (mode
0600, and so can its log, `-wal` and `-shm`).  One that was there keeps its mode until the first
secret is stored in it: then everybody who is neither its owner nor in the file's group is shut
out.  Whoever opens it to others after that has decided so.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from registry import migrate, sqlite_file
from registry.address import without_secrets
from registry.errors import RegistryCorrupt, RegistryReadOnly, RegistryUnavailable
from registry.schema import HEAD

_BUSY_SECONDS = 5.0
LONGEST_SECONDS = 60.0
"""How much processor time a transaction's thread may take on SQLite."""
LONGEST_MIGRATION_SECONDS = 3_600.0
"""The same where tables are brought up to date, which may copy all of them."""
_STEPS_BETWEEN_LOOKS = 1_000_000
"""Steps of SQLite's machine (tens of milliseconds) after which the time is looked at again."""
_WRITE_LOCK = 0x706F6C6963796172
"""Key of the writers' advisory lock on PostgreSQL (the letters "policyar")."""

_KEPT_BUSY = f"other processes kept it busy for {sqlite_file.LOCK_SECONDS:.0f} seconds: run again"
_SQLITE_HINTS = (
    ("readonly", "it may not be written: check who owns the file and its folder"),
    ("unable to open", "it cannot be opened: check that the folder exists and may be written"),
    ("full", "the disk is full: free some space and run again"),
    ("disk i/o", "the disk failed or is full: check its space and its quota"),
    ("locked", _KEPT_BUSY),
    ("protocol", _KEPT_BUSY),
    ("not a database", "the file is no SQLite database: move it away, or use another home"),
    ("malformed", "the file is damaged: restore it from a copy"),
    ("could not decode", "the file is damaged: restore it from a copy"),
    ("interrupted", "a query does not end: the file is damaged or was edited; use a copy"),
)
_CORRUPT = ("malformed", "could not decode", "interrupted")
_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Database:
    """A registry's database, its tables up to date.

    Attributes:
      engine: SQLAlchemy's engine.
      where: path or URL without its password, for messages.
      obstacle: why it cannot be written; "" where it can.
    """

    engine: sa.Engine
    where: str
    obstacle: str

    @classmethod
    def open(cls, target: str | Path, *, read_only: bool = False) -> Database:
        """Connects, and creates or migrates the tables where that is needed and allowed.

        Raises:
          RegistryTooNew: a newer version of this software wrote it.
          RegistryReadOnly: it has to be made or brought up to date, and cannot be written.
          RegistryUnavailable: it cannot be used for another reason.
        """
        url = _postgres_url(target)
        if url is None:
            path = sqlite_file.sqlite_path(target)
            sqlite_file.check_files(path)
            obstacle = "it was opened for reading only" if read_only else sqlite_file.obstacle(path)
            if not os.path.exists(path):
                if obstacle:
                    raise RegistryReadOnly(f"there is no registry {path} yet, and {obstacle}")
                sqlite_file.make_private(path)
            engine, where = _sqlite_engine(path, read_only=bool(obstacle)), str(path)
        else:
            obstacle = "it was opened for reading only" if read_only else ""
            engine = _postgres_engine(url, read_only=read_only)
            where = without_secrets(url)
        database = cls(engine, where, obstacle)
        try:
            database._bring_up_to_date()
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one consistent state."""
        with self._transaction(writes=False) as connection, self._session(connection) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session whose changes are stored when the block ends, unless it raises.

        Raises:
          RegistryReadOnly: the registry can only be read.
        """
        if self.obstacle:
            raise RegistryReadOnly(f"the registry {self.where} cannot be written: {self.obstacle}")
        with self._transaction(writes=True) as connection, self._session(connection) as session:
            yield session
            session.flush()

    def hide_from_others(self) -> None:
        """Before a secret is stored: takes the rights of everybody from a file that has any.

        A file that was made here never had any (mode 0600).  On PostgreSQL, whoever may read the
        table may read the secret.
        """
        if self.engine.dialect.name == "sqlite":
            sqlite_file.hide_from_others(Path(self.where))

    def close(self) -> None:
        """Closes kept connections.  Idempotent."""
        self.engine.dispose()

    def _session(self, connection: sa.Connection) -> Session:
        return Session(connection, info={"where": self.where})

    @contextmanager
    def _transaction(self, *, writes: bool, migrates: bool = False) -> Iterator[sa.Connection]:
        try:
            with self.engine.connect() as connection:
                options = {"arena_writes": writes, "arena_migrates": migrates}
                connection = connection.execution_options(**options)
                if connection.dialect.name == "postgresql" and not writes:
                    connection = connection.execution_options(isolation_level="REPEATABLE READ")
                with connection.begin():
                    yield connection
        except IntegrityError:
            raise  # Ours: the write lock rules it out.
        except DBAPIError as error:
            raise _unavailable(error, self.where) from error

    def _bring_up_to_date(self) -> None:
        with self._transaction(writes=False) as connection:
            if connection.dialect.name == "sqlite":
                sqlite_file.check_tables(connection, self.where, migrate.VERSION_TABLE)
            revision = migrate.current_revision(connection, self.where)
        if revision == HEAD:
            return
        if revision is not None:
            migrate.refuse_unknown(revision, self.where)
        if self.obstacle:
            lack = "there is none yet" if revision is None else f"it is at the old {revision}"
            raise RegistryReadOnly(
                f"the registry {self.where} cannot be used: {lack}, and {self.obstacle}"
            )
        if self.engine.dialect.name == "sqlite":
            self._use_wal()
        with self._transaction(writes=True, migrates=True) as connection:
            migrate.migrate(connection, self.where)

    def _use_wal(self) -> None:
        """Write-ahead log: readers and a writer do not block each other.  Kept in the file."""
        with self.engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert isinstance(raw, sqlite3.Connection)
            try:
                sqlite_file.while_locked(lambda: raw.execute("PRAGMA journal_mode=WAL").fetchone())
            except sqlite3.Error as error:
                raise _unavailable(error, self.where) from error


def _postgres_url(target: str | Path) -> sa.URL | None:
    if isinstance(target, Path) or "://" not in target or target.startswith("sqlite"):
        return None
    try:
        url = sa.make_url(target)
    except (ArgumentError, ValueError) as error:
        raise RegistryUnavailable(f"the registry's URL cannot be read: {error}") from error
    backend = url.drivername.partition("+")[0]
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise RegistryUnavailable(
        f"no registry can be kept in {backend!r}: give a path (SQLite) or a postgresql:// URL"
    )


def _sqlite_engine(path: Path, *, read_only: bool) -> sa.Engine:
    engine = sa.create_engine(
        "sqlite://",
        hide_parameters=True,  # Neither errors nor logs may hold a secret.
        creator=lambda: _connect_sqlite(path, read_only=read_only),
        poolclass=NullPool,
    )
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect_sqlite(path: Path, *, read_only: bool) -> sqlite3.Connection:
    mode = (sqlite_file.reading_mode(path) or "rw") if read_only else "rwc"
    raw = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,  # BEGIN is ours.
        check_same_thread=False,
    )
    raw.execute("PRAGMA trusted_schema=OFF")
    raw.execute("PRAGMA cell_size_check=ON")
    return raw


def _begin_sqlite(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute(f"PRAGMA foreign_keys={'OFF' if options.get('arena_migrates') else 'ON'}")
    begin = "BEGIN IMMEDIATE" if options.get("arena_writes") else "BEGIN"
    # No transaction of ours takes long; the trees of a doctored file can be endless.
    limit = LONGEST_MIGRATION_SECONDS if options.get("arena_migrates") else LONGEST_SECONDS
    began = time.thread_time()
    raw.set_progress_handler(lambda: time.thread_time() - began > limit, _STEPS_BETWEEN_LOOKS)

    def start() -> None:
        raw.execute(begin)
        try:
            # A plain BEGIN takes no lock yet: take it here, where waiting can be repeated.
            raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except UnicodeDecodeError as error:  # in a message about a damaged schema
            raw.execute("ROLLBACK")
            raise sqlite3.DatabaseError(f"could not decode: {error}") from error
        except sqlite3.Error:
            raw.execute("ROLLBACK")
            raise

    try:
        sqlite_file.while_locked(start)
    except sqlite3.Error as error:
        raise OperationalError(begin, None, error) from error


def _postgres_engine(url: sa.URL, *, read_only: bool) -> sa.Engine:
    settings = f"-c lock_timeout={sqlite_file.LOCK_SECONDS:.0f}s"
    if read_only:
        settings += " -c default_transaction_read_only=on"
    engine = sa.create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=2,
        # A database that has no encoding of its own (SQL_ASCII) answers in bytes unless it is told.
        connect_args={"connect_timeout": 10, "options": settings, "client_encoding": "utf8"},
    )
    event.listen(engine, "begin", _begin_postgres)
    return engine


def _begin_postgres(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("arena_writes"):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")


def _unavailable(error: Exception, where: str) -> RegistryUnavailable:
    cause = error.orig if isinstance(error, DBAPIError) else error
    text = " ".join(str(cause).split())[:_SHOWN_CHARS]
    lowered = text.lower()
    for mark, hint in _SQLITE_HINTS:
        if isinstance(cause, sqlite3.Error) and mark in lowered:
            kind = RegistryCorrupt if mark in _CORRUPT else RegistryUnavailable
            kind = RegistryReadOnly if mark == "readonly" else kind
            return kind(f"the registry {where} cannot be used: {hint} ({text})")
    if "read-only transaction" in lowered:
        return RegistryReadOnly(f"the registry {where} cannot be written: {text}")
    return RegistryUnavailable(f"the registry {where} cannot be used: {text}")
