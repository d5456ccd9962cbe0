"""Files that were damaged or edited: what is read is what was stored, or an error."""

import random
import sqlite3
from pathlib import Path

import pytest

from registry import (
    Registry,
    RegistryCorrupt,
    RegistryError,
    RegistryUnavailable,
    Status,
)
from tests.registry.bad_files import edit, entry, use

pytestmark = pytest.mark.usefixtures("nothing_hangs")


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
