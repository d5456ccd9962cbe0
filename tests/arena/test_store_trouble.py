"""The match store on bad ground: damaged files, newer files, no permission, no room, no turn."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import pytest

from arena.games.protocol import Game
from arena.store import (
    MatchStore,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreTooNew,
    StoreUnwritable,
    schema,
)
from arena.values import Match, Result, Termination

GAME = cast(Game, SimpleNamespace(name="toy", version=1, has_deals=True, pack=bytes, unpack=bytes))


def batch(first: int, count: int, move_bytes: int = 10) -> list[Result]:
    """Results of one pair whose moves do not compress."""
    return [
        Result(
            match=Match("toy", 1, "a" * 64, "b" * 64, repetition),
            season=1,
            returns=(1.0, -1.0),
            termination=Termination.COMPLETED,
            fault_seat=None,
            fault_message="",
            moves=os.urandom(move_bytes),
            wall="inline",
            seconds=0.001,
        )
        for repetition in range(first, first + count)
    ]


def stored(store: MatchStore) -> int:
    """Number of matches by the counter, after comparing it with tallies and rows."""
    count = sum(one.matches for one in store.counts())
    assert sum(store.pair_stats("toy", 1).column("matches").to_pylist()) == count
    assert len(store.matches("toy", 1)) == count
    return count


def in_child(work: Callable[[], None]) -> None:
    """Runs `work` in a forked process and fails where it fails."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(60)
    assert child.exitcode == 0


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    return MatchStore(tmp_path / "matches.duckdb")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter (pytest's own are closed to others)."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def as_nobody(work: Callable[[], None]) -> None:
    """Runs `work` in a child without root's privileges, so that permissions count."""

    def demoted() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        work()

    in_child(demoted)


def garble(path: Path, start: int) -> None:
    content = bytearray(path.read_bytes())
    content[start:] = bytes(byte ^ 0xFF for byte in content[start:])
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("id,low,high\n" * 1000),
        cut,
        lambda path: os.truncate(path, 5000),
        lambda path: garble(path, 0),
        lambda path: garble(path, 12_288),
    ],
    ids=["empty", "text", "cut", "cut in the header", "garbled", "garbled blocks"],
)
def test_a_damaged_file_is_named_and_left_alone(
    store: MatchStore, damage: Callable[[Path], Any]
) -> None:
    store.append(GAME, batch(0, 500))
    damage(store.path)
    before = store.path.read_bytes()
    said = r"matches\.duckdb is damaged.*move it away.*matches\.mark"
    for access in (lambda: store.pair_stats("toy", 1), lambda: store.append(GAME, batch(500, 1))):
        with pytest.raises(StoreCorrupt, match=said):
            access()
    assert store.path.read_bytes() == before


def test_somebody_elses_database_is_no_match_store(store: MatchStore) -> None:
    with duckdb.connect(str(store.path)) as connection:
        connection.execute("create table sales (price integer)")
    before = store.path.read_bytes()
    for access in (store.counts, lambda: store.append(GAME, batch(0, 1))):
        with pytest.raises(StoreCorrupt, match="no match store"):
            access()
    assert store.path.read_bytes() == before


def test_a_newer_store_is_refused_and_left_alone(store: MatchStore) -> None:
    store.append(GAME, batch(0, 3))
    with store.writing() as connection:
        connection.execute("insert into schema_history values (?, now())", [schema.VERSION + 1])
    before = store.path.read_bytes()
    for access in (store.counts, lambda: store.append(GAME, batch(3, 1))):
        with pytest.raises(StoreTooNew, match=rf"version {schema.VERSION + 1}.*update"):
            access()
    assert store.path.read_bytes() == before


def test_an_older_store_is_brought_up_to_date(
    store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(GAME, batch(0, 3))

    def next_step(connection: schema.Connection) -> None:
        connection.execute("alter table policies add column seen timestamp")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, next_step))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with store.reading() as connection:
        assert connection.execute("select count(seen) from policies").fetchone() == (0,)
    assert stored(store) == 3


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(GAME, batch(0, 3))

    def wrong_step(connection: schema.Connection) -> None:
        connection.execute("drop table tallies")
        raise RuntimeError("a bug in a migration")

    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, wrong_step))
        newer.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises(RuntimeError):
            store.counts()
    assert stored(store) == 3


def test_reading_needs_no_permission_to_write(open_folder: Path) -> None:
    store = MatchStore(open_folder / "matches.duckdb")
    store.append(GAME, batch(0, 5))
    for file in open_folder.iterdir():
        file.chmod(0o444)
    open_folder.chmod(0o555)

    def look() -> None:
        assert stored(store) == 5
        assert store.get("f" * 32) is None
        with pytest.raises(StoreUnwritable, match="cannot be"):
            store.append(GAME, batch(5, 1))

    as_nobody(look)
    # A copy has no lock files, and its reader may not make any.
    open_folder.chmod(0o755)
    for side_file in open_folder.glob("*.[lt][ou][cr]*"):
        side_file.unlink()
    open_folder.chmod(0o555)
    as_nobody(look)
    assert [file.name for file in open_folder.iterdir()] == ["matches.duckdb"]
    open_folder.chmod(0o755)


def test_an_unreadable_or_unmakeable_store_is_told(open_folder: Path) -> None:
    store = MatchStore(open_folder / "matches.duckdb")
    store.append(GAME, batch(0, 1))
    store.path.chmod(0)

    def look() -> None:
        with pytest.raises(StoreUnwritable, match="permission"):
            store.counts()
        for place in (open_folder / "matches.duckdb" / "deeper", open_folder / "home" / "deep"):
            with pytest.raises(StoreUnwritable, match="cannot be"):
                MatchStore(place / "matches.duckdb").append(GAME, batch(0, 1))

    as_nobody(look)


def fill_up(store: MatchStore, move_bytes: int) -> int:
    """Appends until the store is full; returns the number of acknowledged matches."""
    acknowledged = 0
    for first in range(0, 100_000, 200):
        try:
            acknowledged += store.append(GAME, batch(first, 200, move_bytes))
        except StoreFull as error:
            assert "no room" in str(error)
            return acknowledged
    raise AssertionError("it never became full")


def test_a_limit_on_the_files_size_loses_nothing(store: MatchStore) -> None:
    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))
        acknowledged = fill_up(store, 1_000)
        assert 200 <= acknowledged == stored(store)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert store.append(GAME, batch(acknowledged, 100)) == 100
        assert stored(store) == acknowledged + 100

    in_child(work)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk; the limit on file size stands in for it")
    try:
        store = MatchStore(disk / "matches.duckdb")
        acknowledged = fill_up(store, 1_000)
        assert 200 <= acknowledged == stored(store)
        subprocess.run(["mount", "-o", "remount,size=30m", disk], check=True)
        assert store.append(GAME, batch(acknowledged, 100)) == 100
        assert stored(store) == acknowledged + 100
    finally:
        subprocess.run(["umount", disk], check=True)


def test_moves_beyond_all_measure_are_refused(store: MatchStore) -> None:
    with pytest.raises(ValueError, match="its moves take 2000000 bytes, and 1048576 is the most"):
        store.append(GAME, batch(0, 1, 2_000_000))
    assert store.counts() == ()


def test_an_export_into_a_folder_that_cannot_be_is_told(store: MatchStore, tmp_path: Path) -> None:
    store.append(GAME, batch(0, 3))
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable, match="cannot be made"):
        store.export(tmp_path / "file" / "out")
    (tmp_path / "out" / "matches.parquet").mkdir(parents=True)
    with pytest.raises(StoreUnwritable, match=r"matches\.parquet cannot be written"):
        store.export(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["matches.parquet"]
    (tmp_path / "again" / "matches.parquet.partial").mkdir(parents=True)
    with pytest.raises(StoreUnwritable, match=r"matches\.parquet cannot be written"):
        store.export(tmp_path / "again")


def test_who_holds_the_store_too_long_is_named(store: MatchStore) -> None:
    hasty = MatchStore(store.path, timeout=0.05)
    started = time.monotonic()
    with store.writing(), pytest.raises(StoreBusy, match=rf"process {os.getpid()} \(this process"):
        hasty.counts()
    with store.reading():
        hasty.counts()
        with pytest.raises(StoreBusy, match=r"waited 0\.05 s"):
            hasty.append(GAME, batch(0, 1))
    assert time.monotonic() - started < 30
    assert hasty.append(GAME, batch(0, 1)) == 1


def test_a_program_that_ignores_the_lock_is_told_apart(store: MatchStore) -> None:
    store.append(GAME, batch(0, 1))
    code = f"import duckdb, sys; c = duckdb.connect({str(store.path)!r}); print('open', flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", code + "; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as rude:
        assert rude.stdout is not None
        assert rude.stdout.readline() == b"open\n"
        with pytest.raises(StoreBusy, match="without the arena's lock"):
            store.counts()
        rude.communicate(b"")
    assert stored(store) == 1


def test_a_wrong_query_is_not_blamed_on_the_file(store: MatchStore) -> None:
    with pytest.raises(duckdb.BinderException), store.reading() as connection:
        connection.execute("select nonsense from matches")


def test_all_errors_are_store_errors() -> None:
    assert all(
        issubclass(kind, StoreError)
        for kind in (StoreBusy, StoreCorrupt, StoreFull, StoreTooNew, StoreUnwritable)
    )
