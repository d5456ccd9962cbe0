"""The tables of `runs.sqlite`.  Rows refer to policies by digest, never by name."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Connection
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from registry.schema import UtcDateTime

VERSION = 3
"""Rises when an older program could not read a newer file (`PRAGMA user_version`)."""
_LATER = {
    "attempt": {"repairs": "integer not null default 0", "stopped": "boolean"},
    "run": {"limits": "json"},
    "iteration": {"ended": "json", "against": "json"},
    "exploit": {"ended": "json"},
}
"""Columns that the first files lack.  Older programs do not mind them."""


class Table(SQLModel, registry=registry()):
    """Root of this file's tables, apart from those of the registry."""


class RunRow(Table, table=True):
    """One run."""

    __tablename__ = "run"

    name: str = Field(primary_key=True)
    game: str
    config: dict[str, Any] = Field(sa_column=Column(JSON(), nullable=False))
    state: str
    note: str
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    initial: str
    mixture: str
    final: dict[str, Any] | None = Field(sa_column=Column(JSON(), nullable=True))
    limits: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(), nullable=True))


class IterationRow(Table, table=True):
    """One finished iteration of a run."""

    __tablename__ = "iteration"

    run: str = Field(primary_key=True, foreign_key="run.name")
    k: int = Field(primary_key=True)
    sigma: dict[str, Any] = Field(sa_column=Column(JSON(), nullable=False))
    accepted: str
    u: float | None
    stderr: float | None
    effort: dict[str, Any] = Field(sa_column=Column(JSON(), nullable=False))
    against: list[Any] | None = Field(default=None, sa_column=Column(JSON(), nullable=True))
    ended: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(), nullable=True))


class AttemptRow(Table, table=True):
    """One thing that an oracle tried."""

    __tablename__ = "attempt"

    run: str = Field(primary_key=True, foreign_key="run.name")
    k: int = Field(primary_key=True)
    place: int = Field(primary_key=True)
    number: int
    parent: str
    call: str
    digest: str
    kept: bool
    repairs: int
    u: float | None
    stderr: float | None
    stopped: bool | None = None
    against: list[Any] = Field(sa_column=Column(JSON(), nullable=False))
    rejected: str
    reason: str


class ExploitRow(Table, table=True):
    """The best that was found against one policy by one search."""

    __tablename__ = "exploit"

    target: str = Field(primary_key=True)
    program: str = Field(primary_key=True)
    game: str
    search: str
    gain: float
    stderr: float | None
    low: float | None
    high: float | None
    matches: int
    tried: int
    exact: float | None
    gained: dict[str, Any] | None = Field(sa_column=Column(JSON(), nullable=True))
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    ended: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(), nullable=True))


def prepare(connection: Connection) -> None:
    """Makes the tables of a new file, and adds to those of an older one what they lack."""
    Table.metadata.create_all(connection)
    for table, names in lacking(connection).items():
        for name in names:
            kind = _LATER[table][name]
            connection.exec_driver_sql(f"alter table {table} add column {name} {kind}")


def lacking(connection: Connection) -> dict[str, list[str]]:
    """Later columns that the file lacks, by table."""
    found = {}
    for table, columns in _LATER.items():
        present = {row[1] for row in connection.exec_driver_sql(f"pragma table_info({table})")}
        found[table] = [name for name in columns if name not in present]
    return found
