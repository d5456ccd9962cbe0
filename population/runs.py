"""The file of runs: `runs.sqlite` in the home, next to the registry and the matches.

A finished iteration is one transaction.  What an unfinished iteration did is not here: its
candidates are in the registry, its matches in the match store and its model calls in the journal,
so working through the iteration again finds all of it and pays for none of it twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import defer
from sqlalchemy.pool import NullPool
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from oracle.values import Attempt
from population.config import RunConfig
from population.edition import dated
from population.errors import RunBusy, RunExists, RunsUnusable, UnknownRun
from population.records import Iteration, RunRecord, RunState, Sigma
from population.rows import (
    attempt_of,
    attempt_row,
    iteration_of,
    iteration_row,
    record_of,
    sigma_document,
)
from population.run_names import check_run_name
from population.schema import VERSION, AttemptRow, IterationRow, RunRow, Table, lacking, prepare
from registry import RegistryUnavailable
from registry.sqlite_file import (
    LOCK_SECONDS,
    address,
    check_private,
    held_alone,
    is_held,
    reading_mode,
    while_locked,
)

FILE = "runs.sqlite"
MARK = ".mark"

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound=Table)


def explained(method: Callable[P, T]) -> Callable[P, T]:
    """Turns a database's error into one of ours."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except DBAPIError as error:
            raise RunsUnusable(
                f"the file of runs cannot be used: {error.orig}; check its folder and disk"
            ) from error

    return run


def had_runs(folder: Path) -> bool:
    """Whether there is a file of runs in a home's folder, or was one."""
    return (folder / FILE).exists() or (folder / FILE).with_suffix(MARK).exists()


def _must_be_there(file: Path) -> None:
    """Where runs were begun and their file is gone, an empty one would hide the loss.

    Raises:
      RunsUnusable: it is gone or empty.
    """
    mark = file.with_suffix(MARK)
    if mark.exists() and not (file.exists() and file.stat().st_size):
        raise RunsUnusable(
            f"there were CSRO runs in this home, but {file} is gone or empty: put it back from a "
            f"copy, or delete {mark} to begin anew"
        )


def _remember(file: Path) -> None:
    """Notes beside the file that there are runs."""
    with suppress(OSError):  # one that cannot be written needs no such note
        file.with_suffix(MARK).touch()


class Runs:
    """Every run of a home.  Holds nothing open; may be used by many processes at once."""

    def __init__(self, folder: Path) -> None:
        """Opens the file of a home's folder; makes it where there is none.

        Raises:
          RunsUnusable: it cannot be read, or a newer program wrote it.
        """
        self.path = folder / FILE
        self._folder = folder
        _must_be_there(self.path)
        try:
            check_private(self.path)
        except RegistryUnavailable as error:
            raise RunsUnusable(f"the file of runs cannot be used: {error}") from error
        self.engine = _engine(self.path)
        self._lacking: Mapping[str, Collection[str]] = {}
        self._prepare()

    @explained
    def _prepare(self) -> None:
        with self.engine.begin() as connection:
            (found,) = connection.exec_driver_sql("pragma user_version").one()
            if found > VERSION:
                raise RunsUnusable(
                    f"{self.path} has version {found}, this program reads up to {VERSION}: "
                    "update policy-arena"
                )
            if reading_mode(self.path):  # what is there can be read
                self._lacking = lacking(connection)
                return
            prepare(connection)
            if found < VERSION:
                connection.exec_driver_sql(f"pragma user_version = {VERSION}")

    @explained
    def start(self, name: str, config: RunConfig) -> RunRecord:
        """Notes that a run begins; beginning one that is stored with the same values goes on.

        Raises:
          UsageFault: it cannot be called that.
          RunExists: a run with other values is.
        """
        check_run_name(name)
        with Session(self.engine) as session:
            row = session.get(RunRow, name)
            if row is not None:
                record = record_of(row)
                config = _looked_up(config, record.config)
                if record.config.told != config.told:
                    raise RunExists(
                        f"there is a run {name!r} with another configuration "
                        f"({_difference(record.config, config)}): choose another name, or go on "
                        "with it"
                    )
                return record
            row = RunRow(
                name=name,
                game=config.game,
                config=dated(config).to_document(),
                state=RunState.UNFINISHED.value,
                note="",
                created=datetime.now(UTC),
                initial="",
                mixture="",
                final=None,
            )
            session.add(row)
            session.commit()
            _remember(self.path)
            return record_of(row)

    @explained
    def get(self, name: str) -> RunRecord:
        """A run by its name.

        Raises:
          UnknownRun: there is none.
        """
        with Session(self.engine) as session:
            row = session.get(RunRow, name)
            if row is None:
                known = ", ".join(session.exec(select(RunRow.name).order_by(col(RunRow.created))))
                raise UnknownRun(f"there is no run {name!r}; there are: {known or 'none yet'}")
            return record_of(row)

    @explained
    def all(self, game: str | None = None) -> tuple[RunRecord, ...]:
        """All runs, oldest first."""
        with Session(self.engine) as session:
            rows = session.exec(
                select(RunRow).order_by(col(RunRow.created), col(RunRow.name))
            ).all()
            if rows and not self.path.with_suffix(MARK).exists():
                _remember(self.path)  # begun by an earlier program
            return tuple(record_of(row) for row in rows if game in (None, row.game))

    @explained
    def note(self, name: str, state: RunState, note: str = "") -> None:
        """Sets a run's state, and why."""
        self._change(name, state=state.value, note=note)

    @explained
    def begin(self, name: str, initial: str) -> None:
        """Notes the first member of a run."""
        self._change(name, initial=initial)

    @explained
    def finish(self, name: str, final: Sigma, mixture: str) -> None:
        """Notes the result of a run."""
        self._change(
            name,
            state=RunState.FINISHED.value,
            note="",
            final=sigma_document(final),
            mixture=mixture,
        )

    def _change(self, name: str, **values: Any) -> None:
        with Session(self.engine) as session:
            session.execute(sa.update(RunRow).where(col(RunRow.name) == name).values(**values))
            session.commit()

    @explained
    def add(self, name: str, iteration: Iteration) -> None:
        """Stores a finished iteration with its attempts, all or nothing."""
        with Session(self.engine) as session:
            session.add(iteration_row(name, iteration))
            session.flush()
            session.add_all(
                attempt_row(name, iteration.k, place, attempt)
                for place, attempt in enumerate(iteration.attempts)
            )
            session.commit()

    @explained
    def delete(self, name: str) -> None:
        """Forgets a run with all its iterations; model calls are the journal's to forget."""
        with Session(self.engine) as session:
            for row, column in (
                (AttemptRow, AttemptRow.run),
                (IterationRow, IterationRow.run),
                (RunRow, RunRow.name),
            ):
                session.execute(sa.delete(row).where(col(column) == name))
            session.commit()

    @explained
    def iterations(self, name: str) -> tuple[Iteration, ...]:
        """The finished iterations of a run, in order."""
        wanted = self.rows(IterationRow).where(col(IterationRow.run) == name)
        tried = select(AttemptRow).where(col(AttemptRow.run) == name)
        with Session(self.engine) as session:
            attempts: dict[int, list[Attempt]] = {}
            for row in session.exec(tried.order_by(col(AttemptRow.k), col(AttemptRow.place))):
                attempts.setdefault(row.k, []).append(attempt_of(row))
            return tuple(
                iteration_of(row, tuple(attempts.get(row.k, ())))
                for row in session.exec(wanted.order_by(col(IterationRow.k)))
            )

    def rows(self, table: type[R]) -> SelectOfScalar[R]:
        """Asks for the rows of a table, without columns that a file lacks that nobody may write."""
        missing = self._lacking.get(str(table.__tablename__), ())
        return select(table).options(*(defer(getattr(table, name)) for name in missing))

    @explained
    def done(self, name: str) -> int:
        """How many iterations of a run are finished."""
        wanted = select(sa.func.count()).select_from(IterationRow)
        with Session(self.engine) as session:
            return session.exec(wanted.where(col(IterationRow.run) == name)).one()

    def working_on(self, name: str) -> AbstractContextManager[None]:
        """Keeps other processes from working on the same run.

        Raises:
          RunBusy: another process does.
          RunsUnusable: the home cannot be written.
        """
        lock = self.lock(name)
        if reading_mode(self.path):
            raise RunsUnusable(f"{self.path} is read-only: check its folder and disk")
        busy = RunBusy(
            f"another process is working on the run {name!r} (it holds {lock}); "
            "wait for it, or start a run of another name"
        )
        return held_alone(lock, busy)

    def lock(self, name: str) -> Path:
        """The file that is locked while somebody works on a run; opening it for that dates it."""
        return self._folder / f"run-{name}.lock"

    def worked_on(self, name: str) -> bool:
        """Whether a process works on a run."""
        try:
            return is_held(self.lock(name))
        except OSError:
            return False


def _engine(path: Path) -> sa.Engine:
    kept = reading_mode(path)

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address(path), uri=True, timeout=LOCK_SECONDS)

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin as written below
        if not kept:
            while_locked(lambda: connection.execute("pragma journal_mode = wal"))
        connection.execute("pragma foreign_keys = on")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that reads first and then writes could lose its turn in the middle.
        connection.exec_driver_sql("begin" if kept else "begin immediate")

    return engine


def _looked_up(told: RunConfig, stored: RunConfig) -> RunConfig:
    """With the stored run's initial policy, where nobody looked up the very words that it has."""
    same_words = told.begins == told.initial == stored.initial
    return replace(told, begins=stored.begins) if same_words else told


def _difference(stored: RunConfig, told: RunConfig) -> str:
    """What is told otherwise than it is stored, for people."""
    before, now = (_told_in_words(one, stored.begins == told.begins) for one in (stored, told))
    return "; ".join(
        f"{key} is {before[key]!r} there, {now.get(key)!r} here"
        for key in before
        if before[key] != now.get(key)
    )


def _told_in_words(config: RunConfig, begin_alike: bool) -> dict[str, Any]:
    """What a run was told, by paths; of its initial policy only what people call it."""
    document = config.told.to_document()
    document.pop("begins", None)
    document["initial"] = "" if begin_alike else config.beginning
    return _flat(document)


def _flat(document: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """A document's values by their paths."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        path = f"{within}{key}"
        found.update(_flat(value, f"{path}.") if isinstance(value, Mapping) else {path: value})
    return found
