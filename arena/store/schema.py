"""The tables of the store, and how a file of an older version becomes one of this version.

Sizes matter: there may be a hundred million matches.  Digests are long and few, so they live in
`policies` and everything else refers to them by number; a pair of policies at a game has one
number too.  There are no indexes: row groups carry the range of every column, and pairs are
numbered as they arrive, so a look-up by pair or by repetition skips most of the file, whereas an
index on identities would have to be kept in step with every insert.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb

from arena.store import catalog
from arena.store.catalog import Column, Connection
from arena.store.errors import CURE, StoreCorrupt, StoreTooNew, shown

HISTORY = "schema_history"
"""The table that says which migrations a file has seen."""


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


def _seasons_and_audits(connection: Connection) -> None:
    """Version 2.

    A column with a default is added without touching the other columns, whatever their size.
    """
    for column, value in (("season", 0), ("playings", 1)):
        connection.execute(f"alter table matches add column {column} integer default {value}")
        connection.execute(f"alter table matches alter column {column} set not null")
        connection.execute(f"alter table matches alter column {column} drop default")
    connection.execute(
        """
        -- How the matches of each pair were isolated: sums over the matches stored so far.
        create table isolation (
            pair integer not null, wall varchar not null,
            matches bigint not null, do_overs bigint not null
        );
        insert into isolation select pair, wall, count(*), 0 from matches group by pair, wall;
        -- Matches that were played again to compare; a match may have been more than once.
        create table audits (
            id uuid not null, pair integer not null, repetition integer not null,
            verdict varchar not null, suspect integer,     -- a policy
            move integer,                                  -- the first that differed
            stored varchar not null, again varchar not null,
            wall varchar not null,                         -- of the second playing
            audited_at timestamp not null                  -- UTC
        );
        """
    )


Migration = Callable[[Connection], None]

MIGRATIONS: tuple[Migration, ...] = (_first_tables, _seasons_and_audits)
"""Each takes the tables from the version of its index to the next one, in a transaction."""

VERSION = len(MIGRATIONS)

_MOST_VERSIONS = 1_000
"""A longer history is none."""


def inspect(connection: Connection, path: Path) -> None:
    """Makes sure that a file holds the tables of one version of the arena, and nothing else.

    Nothing that the file brings (a view, a macro, a trigger) is run on the way.

    Raises:
      StoreCorrupt: it does not.
      StoreTooNew: a newer version of the arena wrote it.
    """
    found = catalog.entries(connection)
    if HISTORY not in found.rows:
        raise StoreCorrupt(f"{path} is a DuckDB database but no match store; name another file")
    if found.others:
        raise StoreCorrupt(
            f"{path} holds {shown(found.others[0])}, and a match store holds tables only: it could "
            f"make our questions run somebody else's program, so nothing was read. {CURE}"
        )
    tables = catalog.columns(connection)
    if tables[HISTORY] != _tables_of(())[HISTORY]:
        raise StoreCorrupt(f"{path} is a DuckDB database but no match store; name another file")
    expected = _tables_of(MIGRATIONS[: version_of(connection, path)])
    for name in sorted(expected.keys() | tables.keys()):
        if tables.get(name) != expected.get(name):
            raise StoreCorrupt(f"{path}: {shown(_difference(name, tables, expected))}. {CURE}")


def version_of(connection: Connection, path: Path) -> int:
    """The version of the tables in a file, of which `HISTORY` was inspected.

    Raises:
      StoreCorrupt: its history makes no sense.
      StoreTooNew: a newer version of the arena wrote it.
    """
    rows = connection.execute(f"select version from {HISTORY} limit {_MOST_VERSIONS}").fetchall()
    versions = [version for (version,) in rows]
    if not versions or set(versions) != set(range(1, len(versions) + 1)):
        told = ", ".join(str(version) for version in versions[:5]) or "nothing"
        raise StoreCorrupt(
            f"{path} tells no version: its {HISTORY} should count 1, 2, ... and says {told}. {CURE}"
        )
    if len(versions) > VERSION:
        raise StoreTooNew(
            f"{path} is a match store of version {len(versions)}, and this installation knows "
            f"versions up to {VERSION}: update policy-arena; nothing was changed"
        )
    return len(versions)


def migrate(connection: Connection, version: int) -> None:
    """Takes the tables from `version` to `VERSION`, inside the caller's transaction."""
    _apply(connection, MIGRATIONS, version)


def _apply(connection: Connection, migrations: Sequence[Migration], version: int) -> None:
    connection.execute(
        f"create table if not exists {HISTORY} (version integer, applied_at timestamp)"
    )
    for number, step in enumerate(migrations[version:], start=version + 1):
        step(connection)
        connection.execute(
            f"insert into {HISTORY} values (?, current_timestamp at time zone 'UTC')", [number]
        )


@functools.cache
def _tables_of(migrations: tuple[Migration, ...]) -> Mapping[str, tuple[Column, ...]]:
    """The tables that these migrations make: what a file of that version has to hold."""
    with duckdb.connect(":memory:") as connection:
        _apply(connection, migrations, 0)
        return catalog.columns(connection, "memory")


def _difference(
    name: str,
    tables: Mapping[str, tuple[Column, ...]],
    expected: Mapping[str, tuple[Column, ...]],
) -> str:
    """How a table is not the expected one, for people."""
    if name not in tables:
        return f"the table {name} is missing"
    if name not in expected:
        return f"it holds a table {name} that no arena made"
    differing = sorted(column.name for column in set(tables[name]) ^ set(expected[name]))
    which = f"the column {differing[0]}" if differing else "the order of the columns"
    return f"{which} of its table {name} is not as the arena makes it"
