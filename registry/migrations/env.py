"""Runs revisions on the connection that `registry.database` hands over in its attributes.

The caller owns the transaction: it holds the registry's write lock, so that of several
processes that open an old registry at once, one migrates it and the others find it done.
"""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from registry import schema
from registry.migrate import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    version_table=VERSION_TABLE,
    # SQLite cannot alter most of a table in place: Alembic copies it instead.
    render_as_batch=connection.dialect.name == "sqlite",
    include_name=lambda name, type_, _: (
        type_ != "table" or name in {table.name for table in schema.TABLES}
    ),
)
context.run_migrations()
