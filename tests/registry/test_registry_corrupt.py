"""Files that were damaged, doctored or made by another program: an error, and no waiting."""

import faulthandler
import itertools
import os
import random
import socket
import sqlite3
import stat
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from registry import (
    Registry,
    RegistryCorrupt,
    RegistryError,
    RegistryUnavailable,
    Status,
    Submission,
    UnknownPolicy,
    database,
)

NUMBERS = itertools.count(1_000)
HANGS_AFTER_SECONDS = 300
"""Each test takes a few seconds, on a busy machine too."""

Act = Callable[[Registry], object]


@pytest.fixture(autouse=True)
def nothing_hangs() -> Iterator[None]:
    """Ends the whole run where SQLite does not come back: nothing gentler would reach it."""
    faulthandler.dump_traceback_later(HANGS_AFTER_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def entry(number: int, size: int = 3_500) -> Submission:
    return Submission("rrps", "ada/copycat", "python", f"# {number}\n" + "x" * size)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A registry with 300 versions, one to a page."""
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit_many([entry(number) for number in range(300)])
        registry.current_season()
    return path


def edit(path: Path, *statements: str) -> None:
    raw = sqlite3.connect(path)
    for statement in statements:
        raw.execute(statement)
    raw.commit()
    raw.close()


COUNT: tuple[Act, ...] = (
    lambda registry: registry.count(),
    lambda registry: registry.count("rrps"),
)
READ: tuple[Act, ...] = (
    *COUNT,
    lambda registry: registry.find(),
    lambda registry: registry.find(text="x"),
    lambda registry: registry.get(None, "ada/copycat"),
    lambda registry: registry.get("rrps", "ada/copycat@7"),
    lambda registry: registry.aliases(),
    lambda registry: registry.seasons(),
    lambda registry: registry.current_season(),
    lambda registry: registry.author("ada"),
    lambda registry: registry.quarantined_code("rrps", "x"),
)
WRITE: tuple[Act, ...] = (
    lambda registry: registry.submit(entry(next(NUMBERS))),
    lambda registry: registry.claim_author(f"zoe{next(NUMBERS)}"),
)


def use(path: Path, acts: tuple[Act, ...] = (*READ, *WRITE)) -> list[str]:
    """Opens a registry for each act, to read it and to write it; which errors came of it."""
    came = []
    for act, read_only in itertools.product(acts, (True, False)):
        try:
            with Registry.open(path, read_only=read_only) as registry:
                act(registry)
        except RegistryError as error:
            came.append(type(error).__name__)
    return came


@pytest.mark.parametrize(
    "change",
    [
        "payload = payload || ' '",
        "payload = 'class Agent: ...'",
        "payload = CAST(payload AS BLOB)",
        "payload = x'ff'",
        "payload = NULL",
        "game = 'leduc'",
        "kind = 'tabular'",
        "digest = lower(hex(randomblob(16)))",
        "name = 'ada/../x'",
        "name = 'eve/copycat'",
        "name = char(27) || '[31m/x'",
        "number = -1",
        "number = 'one'",
        "author = 'eve'",
        "status = 'champion'",
        "status_reason = x'00'",
        "description = x'00'",
        "code_digest = x'00'",
        "provenance = '{'",
        "provenance = '[]'",
        "created = 'yesterday'",
        "created = 7",
    ],
)
def test_a_version_that_is_not_what_was_registered_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        good, bad = (registry.submit(entry(number, 10)).version for number in (1, 2))
    edit(
        path,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'payload VARCHAR NOT NULL', 'payload TEXT')",
    )
    edit(path, f"UPDATE policy_version SET {change} WHERE position = 2")
    with Registry.open(path) as registry:
        for read in (registry.find, lambda: registry.find(newest_first=True, limit=1)):
            with pytest.raises(RegistryCorrupt, match="restore it from a copy") as caught:
                read()
            assert str(path) in str(caught.value) and "\x1b" not in str(caught.value)
        assert registry.get("rrps", good.ref) == good
        with pytest.raises(RegistryError):
            registry.by_digests([bad.digest])
            registry.set_status(bad.digest, Status.YANKED, "")


def test_the_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        version = registry.submit(entry(1, 10)).version
        edit(path, "UPDATE policy_version SET payload = 'class Agent: ...'")
        for read in (
            lambda: registry.get("rrps", version.ref),
            lambda: registry.by_digests([version.digest]),
            lambda: registry.submit(entry(1, 10)),
            lambda: registry.set_status(version.digest, Status.YANKED, ""),
        ):
            with pytest.raises(
                RegistryCorrupt,
                match=rf"version '{version.ref} of rrps' with the digest '{version.digest}'",
            ):
                read()
    edit(path, f"UPDATE policy_version SET payload = '{entry(1, 10).payload}'")
    with Registry.open(path) as registry:
        assert registry.get("rrps", version.ref) == version


def test_other_rows_that_cannot_be_read(path: Path) -> None:
    with Registry.open(path) as registry:
        version = registry.set_alias("rrps", "champion", "ada/copycat@1").digest
        edit(path, "UPDATE policy_alias SET changed = 'then'")
        with pytest.raises(RegistryCorrupt, match="cannot be read"):
            registry.aliases()
        for change in ("status = 'crowned'", "changed = 'then'"):
            edit(path, f"UPDATE policy_status SET {change}")
            with pytest.raises(RegistryCorrupt):
                registry.history(version)
        for change in ("origin = 'heaven'", "skeleton = 'x'", "created = 'then'"):
            edit(path, f"UPDATE policy_author SET {change}")
            with pytest.raises(RegistryCorrupt):
                registry.author("ada")


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
    edit(path, "INSERT INTO registry_revision VALUES ('0002')")
    assert use(path).count("RegistryUnavailable") == 24  # All but writing read-only.
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


def test_truncated_files(path: Path) -> None:
    whole = path.read_bytes()
    opened = 0
    for size in (1, 15, 16, 99, 100, 512, 4_095, 4_096, 10_000, 200_000, len(whole) - 1):
        path.write_bytes(whole[:size])
        came = use(path)
        assert came, size
        opened += "RegistryCorrupt" in came
    assert opened > 0


def test_files_of_random_bytes(tmp_path: Path) -> None:
    rng = random.Random(5)
    path = tmp_path / "registry.sqlite"
    for size in (7, 100, 5_000, 2_000_000):
        for beginning in (b"", b"SQLite format 3\0"):
            path.write_bytes(beginning + rng.randbytes(size))
            for read_only in (False, True):
                with pytest.raises(RegistryUnavailable):
                    Registry.open(path, read_only=read_only)


def test_flipped_bits_give_errors_of_ours_or_nothing(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    rng = random.Random(11)
    found = set()
    for _ in range(12):
        damaged = bytearray(whole)
        for _ in range(200):
            damaged[rng.randrange(100, len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        found |= set(use(path))
    assert "RegistryCorrupt" in found


def test_a_payload_with_one_flipped_bit_does_not_play(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"# 7\nxxxx") + 1_000] ^= 1
    path.write_bytes(whole)
    with Registry.open(path) as registry:
        assert registry.get("rrps", "ada/copycat@7").payload.startswith("# 6\n")
        with pytest.raises(RegistryCorrupt, match="ada/copycat@8 of rrps"):
            registry.get("rrps", "ada/copycat@8")


def test_a_huge_log_that_is_no_log(path: Path) -> None:
    log = Path(f"{path}-wal")
    for beginning in (b"", random.Random(3).randbytes(100_000)):
        with open(log, "wb") as file:
            file.write(beginning)
            file.truncate(20 << 30)  # With holes: it takes no room.
        assert use(path) == ["RegistryReadOnly"] * 2


def test_the_log_of_another_database(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    raw = sqlite3.connect(other)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(500000));")
    Path(f"{path}-wal").write_bytes(Path(f"{other}-wal").read_bytes())
    raw.close()
    assert use(path)


def test_an_index_of_the_log_that_is_none(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("UPDATE policy_version SET description = 'in the log'")
    raw.commit()
    log, index = Path(f"{path}-wal").read_bytes(), Path(f"{path}-shm")
    raw.close()
    Path(f"{path}-wal").write_bytes(log)
    for content in (b"", b"x", random.Random(2).randbytes(32_768)):
        index.write_bytes(content)
        with Registry.open(path) as registry:
            assert {one.description for one in registry.find()} == {"in the log"}


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
