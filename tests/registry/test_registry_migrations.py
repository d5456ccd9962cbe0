"""The tables that migrations build are those that the code expects, on both databases."""

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlmodel import SQLModel

from registry import Registry, RegistryReadOnly, RegistryTooNew, RegistryUnavailable, Submission
from registry.migrate import VERSION_TABLE, _config, current_revision
from registry.schema import HEAD, TABLES


def set_revision(registry: Registry, revision: str) -> None:
    with registry.database.writing() as session:
        session.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = :to"), {"to": revision})


def test_migrations_build_the_tables_of_the_code(registry: Registry) -> None:
    with registry.database.reading() as session:
        options = {"compare_type": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(session.connection(), opts=options)
        assert compare_metadata(context, SQLModel.metadata) == []


def test_the_newest_revision_is_the_one_that_the_code_expects() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD


def test_migrations_can_be_taken_back_and_run_again(target: str) -> None:
    with Registry.open(target) as registry:
        registry.submit(Submission("rrps", "a/b", "python", "x"))
        config = _config()
        with registry.database._transaction(writes=True, migrates=True) as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "base")
        with registry.database._transaction(writes=False) as connection:
            assert current_revision(connection, target) is None
            left = set(sa.inspect(connection).get_table_names())
        assert left.isdisjoint(table.name for table in TABLES)
        with pytest.raises(RegistryReadOnly, match="opened for reading only"):
            Registry.open(target, read_only=True)
    with Registry.open(target) as registry:
        assert registry.count() == 0
        assert registry.submit(Submission("rrps", "a/b", "python", "x")).created


def test_opening_again_keeps_what_is_there(target: str) -> None:
    with Registry.open(target) as registry:
        version = registry.submit(Submission("rrps", "a/b", "python", "x")).version
    with Registry.open(target) as registry:
        assert registry.get("rrps", "a/b@1") == version


@pytest.mark.parametrize("read_only", [False, True])
def test_a_registry_of_a_newer_version_is_left_alone(target: str, read_only: bool) -> None:
    with Registry.open(target) as registry:
        registry.submit(Submission("rrps", "a/b", "python", "x"))
        set_revision(registry, "9999")
        with pytest.raises(RegistryTooNew, match=rf"newer version .* revision 9999.* up to {HEAD}"):
            Registry.open(target, read_only=read_only)
        set_revision(registry, HEAD)
        with Registry.open(target, read_only=True) as again:
            assert again.count() == 1


def test_a_copied_table_may_not_leave_rows_without_their_parent(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    Registry.open(path).close()
    raw = sqlite3.connect(path)
    raw.execute("INSERT INTO policy_label VALUES ('nowhere', 'k', 'v')")
    raw.execute(f"DELETE FROM {VERSION_TABLE}")
    for table in {table.name for table in TABLES} - {"policy_label"}:
        raw.execute(f"DROP TABLE {table}")
    raw.execute("ALTER TABLE policy_label RENAME TO other")
    raw.execute("DROP INDEX ix_policy_label_key_value")
    raw.commit()
    raw.close()
    with pytest.raises(RegistryUnavailable, match="a row of other refers to a missing row"):
        Registry.open(path)
    raw = sqlite3.connect(path)
    names = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    raw.close()
    assert "policy_version" not in names
