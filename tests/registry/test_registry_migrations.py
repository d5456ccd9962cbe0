"""The tables that migrations build are those that the code expects, on both databases."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlmodel import SQLModel

from registry import (
    Author,
    NameRefused,
    Origin,
    Registry,
    RegistryReadOnly,
    RegistryTooNew,
    RegistryUnavailable,
    Role,
    Submission,
    digest_of,
    skeleton,
    tokens,
)
from registry.migrate import VERSION_TABLE, _config, current_revision
from registry.schema import HEAD, TABLES
from tests.registry.at_once import at_once
from tests.registry.tokens import token_fits

BY_HAND = Origin.OPERATOR


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


FIRST = (
    """INSERT INTO policy_version (digest, game, name, author, number, kind, status,
    status_reason, description, sought, code_digest, created, provenance, payload) VALUES
    (:one, 'rrps', 'house/rock', 'house', 1, 'native', 'qualified', '', '', 'house/rock', '',
     '2026-01-01 10:00:00.000000', '{}', 'rockbot'),
    (:two, 'rrps', 'Ada/x', 'Ada', 1, 'python', 'quarantined', 'differs', 'ü', 'ada/x', 'c0de',
     '2026-01-03 10:00:00.000000', '{"k": [1]}', 'two'),
    (:three, 'leduc', 'Ada/x', 'Ada', 1, 'python', 'qualified', '', '', 'ada/x', '',
     '2026-01-02 10:00:00.000000', '{}', 'three'),
    (:four, 'leduc', 'ada/y', 'ada', 1, 'python', 'qualified', '', '', 'ada/y', '',
     '2026-01-04 10:00:00.000000', '{}', 'four')""",
    "INSERT INTO policy_label VALUES (:two, 'k', 'v')",
    "INSERT INTO policy_parent VALUES (:three, 0, :four, 'made-from')",
    """INSERT INTO policy_status (digest, status, reason, changed) VALUES
    (:two, 'qualified', '', '2026-01-03 10:00:00.000000'),
    (:two, 'quarantined', 'differs', '2026-01-05 10:00:00.000000')""",
    "INSERT INTO policy_alias VALUES ('rrps', 'house', :one, true, '2026-01-06 10:00:00.000000')",
)
"""A registry as the first revision kept it, with names that are refused today."""


def old_registry(target: str) -> dict[str, str]:
    """Makes a registry at revision 0001; the digests of what is in it."""
    digests = {
        key: digest_of(game, kind, payload)
        for key, game, kind, payload in (
            ("one", "rrps", "native", "rockbot"),
            ("two", "rrps", "python", "two"),
            ("three", "leduc", "python", "three"),
            ("four", "leduc", "python", "four"),
        )
    }
    Registry.open(target).close()
    with Registry.open(target) as registry:
        config = _config()
        with registry.database._transaction(writes=True, migrates=True) as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0001")
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("SET LOCAL TIME ZONE 'UTC'"))
            for statement in FIRST:
                named = {key: value for key, value in digests.items() if f":{key}" in statement}
                connection.execute(sa.text(statement), named)
    return digests


def test_a_registry_of_the_first_revision_goes_on(target: str) -> None:
    digests = old_registry(target)
    with pytest.raises(RegistryReadOnly, match="it is at the old 0001"):
        Registry.open(target, read_only=True)
    with Registry.open(target) as registry:
        found = registry.find()
        assert [version.digest for version in found] == list(digests.values())
        assert [version.ref for version in found] == [
            "house/rock@1",
            "Ada/x@1",
            "Ada/x@1",
            "ada/y@1",
        ]
        two = registry.by_digests([digests["two"]])[digests["two"]]
        assert (two.description, two.labels, two.provenance) == ("ü", {"k": "v"}, {"k": [1]})
        assert len(registry.history(two.digest)) == 2
        assert registry.parents(digests["three"])[0].digest == digests["four"]
        assert registry.get("rrps", "house").ref == "house/rock@1"
        assert registry.quarantined_code("rrps", "c0de") == two
        authors = [registry.author(name) for name in ("house", "Ada", "ada", "bob")]
        assert authors == [
            Author(
                "house", skeleton("house"), False, datetime(2026, 1, 1, 10, tzinfo=UTC), BY_HAND
            ),
            Author("Ada", skeleton("ada"), False, datetime(2026, 1, 2, 10, tzinfo=UTC), BY_HAND),
            Author("ada", skeleton("ada"), False, datetime(2026, 1, 4, 10, tzinfo=UTC), BY_HAND),
            None,
        ]
        assert registry.seasons() == ()
        for name in ("Ada/x", "ada/x"):  # Both are here, so both go on.
            assert registry.submit(Submission("rrps", name, "python", f"new {name}")).created
        for name in ("ADA/x", "House/x"):
            with pytest.raises(NameRefused):
                registry.submit(Submission("rrps", name, "python", f"new {name}"))
        assert registry.current_season().number == 1


def test_processes_that_open_an_old_registry_at_once_migrate_it_once(target: str) -> None:
    digests = old_registry(target)
    code = """
with Registry.open(target) as registry:
    print(registry.count(), registry.author("Ada").origin, registry.current_season().commitment)
"""
    assert len({tuple(lines) for lines in at_once(target, code)}) == 1
    with Registry.open(target) as registry:
        assert set(registry.by_digests(digests.values())) == set(digests.values())


def test_tokens_of_before_there_were_accounts_are_those_of_authors(target: str) -> None:
    Registry.open(target).close()
    with Registry.open(target) as registry:
        config = _config()
        token = "5" * 48
        row = {"name": "Ada", "skeleton": skeleton("Ada"), "token": tokens.hashed(token)}
        with registry.database._transaction(writes=True, migrates=True) as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0003")
            statement = """INSERT INTO policy_author (name, skeleton, token, created, origin)
            VALUES (:name, :skeleton, :token, '2026-01-06 10:00:00.000000', 'page')"""
            connection.execute(sa.text(statement), row)
    with Registry.open(target) as registry:
        account = registry.account_of(token)
        assert account is not None
        assert (account.name, account.role, account.expires) == ("Ada", Role.AUTHOR, None)
        assert not account.disabled and token_fits(registry, "Ada", token)
        assert registry.invites() == registry.events() == registry.tournaments() == ()


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
