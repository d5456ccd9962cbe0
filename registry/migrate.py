"""Brings a registry's tables to the newest revision, or says that they are beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from registry.errors import RegistryCorrupt, RegistryTooNew, RegistryUnavailable
from registry.schema import HEAD

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "registry_revision"
"""Alembic's own table; named so that another Alembic user can share the database."""


def current_revision(connection: sa.Connection, where: str) -> str | None:
    """The revision that the database is at, or None where it holds no registry.

    Raises:
      RegistryCorrupt: it is at several at once, or at what is none.
    """
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    statement = sa.text(f"SELECT version_num FROM {VERSION_TABLE} LIMIT 2")
    found = connection.execute(statement).scalars().all()
    if not found:
        return None
    if len(found) > 1 or not isinstance(found[0], str):
        raise RegistryCorrupt(
            f"the registry {where} was edited: its table {VERSION_TABLE} does not hold one "
            "revision; restore it from a copy"
        )
    return found[0]


def migrate(connection: sa.Connection, where: str) -> None:
    """Runs the missing revisions in the connection's transaction.

    The caller holds the write lock and commits.

    Raises:
      RegistryTooNew: a newer version of this software wrote the database.
      RegistryUnavailable: its rows contradict each other after the migration.
    """
    # Alembic takes long to import, and most processes open a registry that is up to date.
    from alembic import command

    revision = current_revision(connection, where)
    if revision == HEAD:
        return
    if revision is not None:
        refuse_unknown(revision, where)
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    if connection.dialect.name == "sqlite":
        _check_foreign_keys(connection, where)


def refuse_unknown(revision: str, where: str) -> None:
    """Does nothing for a revision that this version knows.

    Raises:
      RegistryTooNew: a newer version of this software wrote the database.
    """
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision not in known:
        raise RegistryTooNew(
            f"the registry {where} was written by a newer version of Policy Arena (its tables "
            f"are at revision {revision}, this version knows them up to {HEAD}): upgrade "
            "policy-arena, or use another home"
        )


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "registry:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _check_foreign_keys(connection: sa.Connection, where: str) -> None:
    """SQLite migrates with foreign keys off (a table that is copied is dropped on the way)."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise RegistryUnavailable(
            f"the registry {where} is damaged: a row of {broken[0]} refers to a missing row of "
            f"{broken[2]}; it was left as it was"
        )
