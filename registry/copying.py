"""Copies a whole registry into an empty one, from either database into either."""

from __future__ import annotations

import sqlalchemy as sa
from sqlmodel import Session

from registry.errors import RegistryNotEmpty
from registry.registry import Registry
from registry.schema import TABLES

_BATCH = 500
"""Rows that are in memory at a time."""


def copy(source: Registry, target: Registry) -> int:
    """Copies every row as it is at one moment, secrets included, in one transaction.

    Args:
      source: may be in use meanwhile.
      target: nothing may have been stored in it yet.

    Returns:
      The number of rows.

    Raises:
      RegistryNotEmpty: there is something in the target.
      RegistryUnavailable: one of them cannot be used; the target is as it was.
    """
    rows = 0
    with source.database.reading() as reading, target.database.writing() as writing:
        for table in TABLES:
            if writing.execute(sa.select(sa.func.count()).select_from(table)).scalar_one():
                raise RegistryNotEmpty(
                    f"the registry {target.database.where} is not empty: name a new one"
                )
        for table in TABLES:
            rows += _copy_table(table, reading, writing)
        if writing.get_bind().dialect.name == "postgresql":
            _go_on_counting(writing)
    return rows


def _copy_table(table: sa.Table, reading: Session, writing: Session) -> int:
    rows = 0
    statement = sa.select(table).order_by(*table.primary_key)
    found = reading.connection().execution_options(yield_per=_BATCH).execute(statement)
    for some in found.mappings().partitions():
        writing.connection().execute(sa.insert(table), [dict(row) for row in some])
        rows += len(some)
    return rows


def _go_on_counting(writing: Session) -> None:
    """PostgreSQL counts positions by itself, and does not notice those that were copied."""
    for table in TABLES:
        column = table.autoincrement_column
        if column is None:
            continue
        greatest = sa.select(sa.func.coalesce(sa.func.max(column), 0) + 1).scalar_subquery()
        counter = sa.func.pg_get_serial_sequence(table.name, column.name)
        writing.execute(
            sa.select(sa.func.setval(counter, greatest, False)).where(counter.is_not(None))
        )
