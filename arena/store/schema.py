"""The tables of the store, and how a file of an older version becomes one of this version.

Sizes matter: there may be a hundred million matches.  Digests are long and few, so they live in
`policies` and everything else refers to them by number; a pair of policies at a game has one
number too.  There are no indexes: row groups carry the range of every column, and pairs are
numbered as they arrive, so a look-up by pair or by repetition skips most of the file, whereas an
index on identities would have to be kept in step with every insert.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from arena.store.errors import StoreCorrupt, StoreTooNew

Connection = Any
"""A DuckDB connection (its package is not typed)."""


def _first_tables(connection: Connection) -> None:
    """Version 1."""
    connection.execute(
        """
        create table store (token varchar not null);       -- tells one file from another
        create table games (
            game integer not null, name varchar not null, version integer not null,
            matches bigint not null                        -- stored so far
        );
        create table policies (policy integer not null, digest varchar not null);
        create table pairs (
            pair integer not null, game integer not null,
            low integer not null, high integer not null    -- policies
        );
        -- One row for each pair and half of its deals; sums over the matches stored so far.
        create table tallies (
            pair integer not null, half utinyint not null,
            reach integer not null,                        -- 1 + the greatest repetition
            matches bigint not null, total double not null, total_squares double not null,
            deals bigint not null, deal_squares double not null, deal_cross double not null,
            deal_sizes bigint not null,
            wins bigint not null, draws bigint not null, losses bigint not null,
            forfeits_low bigint not null, forfeits_high bigint not null,
            micros bigint not null
        );
        create table matches (
            id uuid not null, pair integer not null, repetition integer not null,
            return_low double not null, termination varchar not null,
            fault_seat utinyint, fault_message varchar not null,
            moves blob not null using compression zstd,    -- as the game packs them
            wall varchar not null,
            micros bigint not null, cpu_micros_low bigint not null, cpu_micros_high bigint not null,
            played_at timestamp not null                   -- UTC
        );
        """
    )
    connection.execute("insert into store values (?)", [uuid.uuid4().hex])


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first_tables,)
"""Each takes the tables from the version of its index to the next one, in a transaction."""

VERSION = len(MIGRATIONS)


def version_of(connection: Connection, path: Path) -> int:
    """The version of the tables in a file.

    Raises:
      StoreCorrupt: the file is a DuckDB database of somebody else's.
      StoreTooNew: a newer version of the arena wrote it.
    """
    try:
        found = connection.execute("select max(version) from schema_history").fetchone()
    except duckdb.CatalogException as error:
        raise StoreCorrupt(
            f"{path} is a DuckDB database but no match store; name another file"
        ) from error
    version = int(found[0])
    if version > VERSION:
        raise StoreTooNew(
            f"{path} is a match store of version {version}, and this installation knows versions "
            f"up to {VERSION}: update policy-arena; nothing was changed"
        )
    return version


def migrate(connection: Connection, version: int) -> None:
    """Takes the tables from `version` to `VERSION`, inside the caller's transaction."""
    connection.execute(
        "create table if not exists schema_history (version integer, applied_at timestamp)"
    )
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        step(connection)
        connection.execute(
            "insert into schema_history values (?, current_timestamp at time zone 'UTC')",
            [number],
        )
