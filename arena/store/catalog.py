"""What a file brings besides rows, looked at before any of it is used.

A DuckDB file can hold more than tables: views under the names of tables, macros under the names of
functions, triggers, computed columns, constraints and indexes with expressions.  All of these are
SQL of whoever made the file, and would run with our queries.  So a store holds base tables of the
expected columns and nothing else, or it is not read.

The questions below must not run what they look for.  Therefore they call DuckDB's own functions by
their full names, use no operators (these are functions too), and ask for no column that binds a
view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Connection = Any
"""A DuckDB connection (its package is not typed)."""

MAIN = "main"
ATTACHED = "attached"
"""The name of a store's database, whatever its file is called."""


class Column(NamedTuple):
    """A column of a table; `type_number` tells apart types that go by the same name."""

    name: str
    type: str
    type_number: int
    nullable: bool
    default: str | None
    generated: bool


@dataclass(frozen=True, slots=True)
class Entries:
    """Names in a file's catalog.

    Attributes:
      rows: name of each base table to the number of its rows.
      others: everything else, each as a phrase ("the view matches").
    """

    rows: Mapping[str, int]
    others: tuple[str, ...]


_TABLES = """
    select database_name, table_name, estimated_size, sql from system.main.duckdb_tables()
"""
_OTHERS = (
    ("view", "select database_name, view_name from system.main.duckdb_views()"),
    ("macro", "select database_name, function_name from system.main.duckdb_functions()"),
    ("trigger", "select database_name, trigger_name from system.main.duckdb_triggers()"),
    ("index", "select database_name, index_name from system.main.duckdb_indexes()"),
    ("sequence", "select database_name, sequence_name from system.main.duckdb_sequences()"),
)
_SCHEMAS = "select database_name, schema_name from system.main.duckdb_schemas()"
_CONSTRAINTS = """
    select database_name, table_name, constraint_type, constraint_text
    from system.main.duckdb_constraints()
"""
_COLUMNS = """
    select database_name, table_name, column_name, data_type, data_type_id, is_nullable,
           column_default, is_generated
    from system.main.duckdb_columns()
"""


def entries(connection: Connection, database: str = ATTACHED) -> Entries:
    """Everything that a database holds, by name."""
    others = [
        f"the {kind} {name}"
        for kind, query in _OTHERS
        for (name,) in _of(connection, database, query)
    ]
    others += [
        f"the schema {name}" for (name,) in _of(connection, database, _SCHEMAS) if name != MAIN
    ]
    others += [
        f"the constraint {text} of table {table}"
        for table, kind, text in _of(connection, database, _CONSTRAINTS)
        if kind != "NOT NULL"
    ]
    tables = _of(connection, database, _TABLES)
    # Where letters of one kind equal those of another, digests may do so too.
    others += [f"a collation in table {name}" for name, _, sql in tables if "COLLATE" in sql]
    return Entries({name: rows for name, rows, _ in tables}, tuple(others))


def columns(connection: Connection, database: str = ATTACHED) -> dict[str, tuple[Column, ...]]:
    """The columns of each table, in order; only for a database whose `entries` are all tables.

    (DuckDB binds views to tell their columns.)
    """
    found: dict[str, list[Column]] = {}
    for table, *column in _of(connection, database, _COLUMNS):
        found.setdefault(table, []).append(Column(*column))
    return {table: tuple(listed) for table, listed in found.items()}


def _of(connection: Connection, database: str, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query, whose first column names the database, for one database."""
    return [row[1:] for row in connection.execute(query).fetchall() if row[0] == database]
