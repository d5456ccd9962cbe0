"""Files that somebody made to harm: nothing of theirs is run, deleted or waited for."""

import itertools
import os
import socket
import sqlite3
import stat
import struct
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from registry import (
    Registry,
    RegistryCorrupt,
    RegistryUnavailable,
    Submission,
    UnknownPolicy,
    database,
)
from registry.schema import HEAD
from tests.registry.bad_files import COUNT, READ, WRITE, edit, entry, use

pytestmark = pytest.mark.usefixtures("nothing_hangs")


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        (
            (
                "ALTER TABLE policy_version RENAME TO hidden",
                "CREATE VIEW policy_version AS WITH RECURSIVE n(i) AS "
                "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hidden.* FROM hidden, n",
            ),
            "it has a view 'policy_version'",
        ),
        (
            (
                "ALTER TABLE registry_revision RENAME TO hidden",
                "CREATE VIEW Registry_Revision AS WITH RECURSIVE n(i) AS "
                "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS version_num FROM n",
            ),
            "it has a view 'Registry_Revision'",
        ),
        (
            (
                "CREATE TRIGGER t AFTER INSERT ON policy_author BEGIN "
                "UPDATE policy_author SET token = ''; END",
            ),
            "it has a trigger 't'",
        ),
        (
            (
                "DROP TABLE policy_alias",
                "CREATE VIRTUAL TABLE policy_alias USING fts5(game, name, digest, protected)",
            ),
            "it has a virtual table 'policy_alias'",
        ),
    ],
)
def test_programs_in_a_tables_place_are_not_run(
    path: Path, statements: tuple[str, ...], text: str
) -> None:
    edit(path, *statements)
    for read_only in (False, True):
        with pytest.raises(RegistryCorrupt, match=text):
            Registry.open(path, read_only=read_only)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    edit(path, "CREATE TABLE moz_places (url)", "INSERT INTO moz_places VALUES ('x')")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(RegistryUnavailable, match=r"another program .* 'moz_places'"):
            Registry.open(path, read_only=read_only)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_tables_that_only_look_like_ours(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    edit(path, "CREATE TABLE registry_revision (version_num)", "CREATE TABLE policy_version (x)")
    edit(path, f"INSERT INTO registry_revision VALUES ('{HEAD}')")
    others = 2 * len(READ) + len(WRITE)  # all but writing read-only
    assert use(path).count("RegistryUnavailable") == others
    edit(path, "DELETE FROM registry_revision")
    with pytest.raises(RegistryUnavailable, match="already exists"):
        Registry.open(path)
    for values in ("(x'ff')", "('0001'), ('0002')", "(2)"):
        edit(path, "DELETE FROM registry_revision")
        edit(path, f"INSERT INTO registry_revision VALUES {values}")
        with pytest.raises(RegistryCorrupt, match="does not hold one revision"):
            Registry.open(path)


@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_file(tmp_path: Path, read_only: bool) -> None:
    folder, pipe, plug = tmp_path / "folder", tmp_path / "pipe", tmp_path / "plug"
    folder.mkdir()
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(plug))
        for odd, what in [
            (folder, "a folder"),
            (pipe, "a named pipe"),
            (plug, "a socket"),
            (Path("/dev/zero"), "a device"),
            (Path("/dev/null"), "a device"),
        ]:
            link = tmp_path / f"link-{odd.name}"
            link.symlink_to(odd)
            for target in (odd, link):
                with pytest.raises(RegistryUnavailable, match=f"{target} is {what}"):
                    Registry.open(target, read_only=read_only)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_what_is_no_log(path: Path, ending: str) -> None:
    beside = Path(f"{path}{ending}")
    for make in (os.mkfifo, Path.mkdir):
        make(beside)
        for read_only in (False, True):
            with pytest.raises(RegistryUnavailable, match=f"{ending} is a"):
                Registry.open(path, read_only=read_only)
        if stat.S_ISDIR(beside.stat().st_mode):
            beside.rmdir()
        else:
            beside.unlink()
    assert use(path) == ["RegistryReadOnly"] * 2


def test_a_journal_does_not_delete_another_file(path: Path) -> None:
    precious = path.parent / "precious"
    precious.write_text("a thesis")
    page, name = 4_096, str(precious).encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + struct.pack(">IIIII", 0, 0, path.stat().st_size // page, 512, page)
    named = struct.pack(">I", 0x4000_0000 // page + 1) + name
    named += struct.pack(">II", len(name), sum(name)) + magic
    journal = Path(f"{path}-journal")
    journal.write_bytes(header.ljust(512, b"\0") + named)
    for read_only in (False, True):
        with pytest.raises(RegistryCorrupt, match="names another file"):
            Registry.open(path, read_only=read_only)
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    with pytest.raises(RegistryCorrupt, match="names another file"):
        Registry.open(link)
    assert precious.read_text() == "a thesis"
    journal.unlink()
    assert use(path) == ["RegistryReadOnly"] * 2


def endless(path: Path, tree: str) -> None:
    """Makes a tree of a table or index deep: all pointers of a page lead to the same next one."""
    raw = sqlite3.connect(path)
    (size,) = raw.execute("PRAGMA page_size").fetchone()
    ((root,),) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (tree,))
    raw.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    (cells,) = struct.unpack_from(">H", data, start + 3)
    places = [8, *struct.unpack_from(f">{cells}H", data, start + 12)]
    pages = [struct.unpack_from(">I", data, start + place)[0] for place in places]
    assert len(pages) > 12, "the tree has too few pages"
    inner = bytes(data[start : start + size])
    chain = [root, *pages[1:12]]
    for page, following in itertools.pairwise(chain):
        offset = (page - 1) * size
        data[offset : offset + size] = inner
        for place in places:
            struct.pack_into(">I", data, offset + place, following)
    path.write_bytes(data)


def test_a_table_without_an_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LONGEST_SECONDS", 0.3)
    endless(path, "policy_version")
    with Registry.open(path) as registry, pytest.raises(RegistryCorrupt, match="is there twice"):
        registry.find()
    assert "RegistryCorrupt" in use(path)


def test_indexes_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LONGEST_SECONDS", 0.3)
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        many = [entry(number, 0) for number in range(4_000)]
        registry.submit_many([replace(one, code_digest=one.payload[:-1] * 4) for one in many])
    whole = path.read_bytes()
    raw = sqlite3.connect(path)
    trees = [
        name
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'policy_version'"
        )
    ]
    raw.close()
    assert len(trees) == 5
    for tree in trees:
        path.write_bytes(whole)
        endless(path, tree)
        use(path, COUNT)


def test_a_query_that_does_not_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LONGEST_SECONDS", 0.3)
    with Registry.open(tmp_path / "registry.sqlite") as registry:
        began = time.thread_time()
        with (
            pytest.raises(RegistryCorrupt, match="a query does not end"),
            registry.database.reading() as session,
        ):
            session.execute(
                sa.text(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                    "SELECT max(i) FROM n"
                )
            )
        assert time.thread_time() - began < 5
        assert registry.count() == 0


def test_parents_in_a_circle_are_answered(registry: Registry) -> None:
    one, two = (
        registry.submit(Submission("rrps", "ada/x", "python", text)).version for text in "ab"
    )
    with registry.database.writing() as session:
        for child, parent in ((one, two), (two, one)):
            session.execute(
                sa.text("INSERT INTO policy_parent VALUES (:child, 0, :parent, 'made-from')"),
                {"child": child.digest, "parent": parent.digest},
            )
    assert [version.digest for version in registry.parents(one.digest)] == [two.digest]
    assert [version.digest for version in registry.children(one.digest)] == [two.digest]
    with pytest.raises(UnknownPolicy):
        registry.children("0" * 32)
