"""The match store where something else lies at its paths, and where its bytes are not its own.

Whatever is found there, the answer comes in time: it is right, or it is the store's own error.
"""

from __future__ import annotations

import os
import random
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from arena.store import StoreCorrupt, StoreError
from tests.arena.doctored_store import (
    GAME,
    anew,
    honest_store,
    in_time,
    questions,
    refused,
    result,
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of an honest store."""
    return honest_store(tmp_path_factory.mktemp("honest") / "matches.duckdb").path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, honest: bytes) -> Path:
    """A copy of it."""
    copy = tmp_path / "matches.duckdb"
    copy.write_bytes(honest)
    return copy


def make_socket(path: Path) -> None:
    """By a relative name: absolute ones of sockets are short."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def make_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    target.write_bytes(b"")
    path.symlink_to(target)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("only root may make a device")


THINGS: dict[str, Callable[[Path], None]] = {
    "a named pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a symbolic link": make_link,
    "a socket": make_socket,
    "a device": make_device,
}


@pytest.mark.parametrize("ending", ["", ".lock", ".turn", ".wal", ".wal.checkpoint"])
@pytest.mark.parametrize("kind", THINGS)
def test_something_else_than_a_file_is_told_and_not_opened(
    path: Path, kind: str, ending: str
) -> None:
    place = path.with_name(path.name + ending)
    place.unlink(missing_ok=True)
    THINGS[kind](place)

    def look() -> None:
        for ask in (anew(path).counts, lambda: anew(path).append(GAME, [result(50)])):
            with pytest.raises(StoreCorrupt, match=f"{place} is {kind}"):
                ask()

    in_time(look)
    assert not (path.with_name("elsewhere").exists() and path.with_name("elsewhere").stat().st_size)


def test_a_pipe_in_place_of_the_spill_folder_is_told(path: Path) -> None:
    os.mkfifo(path.with_name("matches.duckdb.tmp"))

    def look() -> None:
        with pytest.raises(StoreCorrupt, match=r"matches\.duckdb\.tmp is no folder"):
            anew(path).counts()

    in_time(look)


def test_what_is_in_the_way_of_a_new_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "matches.duckdb.new").mkdir()
    with pytest.raises(StoreError, match=r"matches\.duckdb\.new is in the way"):
        anew(tmp_path / "matches.duckdb").counts()


def test_a_link_to_the_folder_is_as_good_as_the_folder(path: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path)
    assert len(anew(linked / "matches.duckdb").matches("toy", 1)) == 20


def sqlite_file(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table matches (id text)")
    connection.close()


def encrypted_file(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("set force_mbedtls_unsafe = 'true'")
        connection.execute(f"attach '{path}' as locked (encryption_key 'key')")
        connection.execute("create table locked.t (x integer)")


def parquet_file(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"copy (from range(10)) to '{path}' (format parquet)")


@pytest.mark.parametrize("make", [sqlite_file, encrypted_file, parquet_file])
def test_files_of_other_programs_are_told(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "matches.duckdb"
    make(path)
    refused(path, StoreCorrupt, "is damaged or is not a match store")


def test_an_empty_database_is_no_match_store(tmp_path: Path) -> None:
    path = tmp_path / "matches.duckdb"
    duckdb.connect(str(path)).close()
    refused(path, StoreCorrupt, "no match store")


def die_with_a_log(path: Path, *statements: str) -> None:
    """Lets a process write to the file, and dies before the log is in it."""
    code = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('pragma disable_checkpoint_on_shutdown')\n"
        "for statement in sys.argv[2:]: connection.execute(statement)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path), *statements], check=False)
    assert path.with_name(path.name + ".wal").stat().st_size


def test_a_log_that_belongs_to_the_store_counts(path: Path) -> None:
    die_with_a_log(path, "insert into policies values (3, 'd')")
    with anew(path).reading() as connection:
        assert connection.execute("select count(*) from policies").fetchone() == (4,)
    assert anew(path).append(GAME, [result(10)]) == 1
    assert not path.with_name("matches.duckdb.wal").exists()


@pytest.mark.parametrize(
    ("brought", "statements"),
    [
        ("the macro sum", ("create macro sum(x) as 666",)),
        ("the view v", ("create view v as from range(10)",)),
        (
            "the trigger t",
            (
                "create trigger t after insert on matches for each statement"
                " insert into schema_history values (1, now())",
            ),
        ),
        (
            "the column extra of its table games",
            ("alter table games add column extra integer default (random() * 9)::integer",),
        ),
        ("the table tallies is missing", ("drop table tallies",)),
    ],
)
def test_what_a_log_brings_is_refused_and_stays_where_it_is(
    path: Path, brought: str, statements: tuple[str, ...]
) -> None:
    die_with_a_log(path, *statements)
    log = path.with_name("matches.duckdb.wal")
    before = log.read_bytes()
    refused(path, StoreCorrupt, brought)
    assert log.read_bytes() == before


def test_a_log_of_another_store_is_not_taken_over(path: Path, tmp_path: Path) -> None:
    other = honest_store(tmp_path / "other" / "matches.duckdb").path
    die_with_a_log(other, "insert into policies values (3, 'd')")
    os.rename(other.with_name("matches.duckdb.wal"), path.with_name("matches.duckdb.wal"))
    refused(path, StoreCorrupt, "is damaged")


def test_a_log_without_its_store_is_not_taken_over(path: Path) -> None:
    die_with_a_log(path, "insert into policies values (3, 'd')")
    path.unlink()
    for ask in (anew(path).counts, lambda: anew(path).append(GAME, [result(0)])):
        with pytest.raises(StoreCorrupt, match="log of a match store that is not there"):
            ask()
    assert not path.exists()


def checked(content: bytearray) -> None:
    """Puts DuckDB's check sums right: each block begins with the one of its rest."""
    headers, block = 4096, 262_144
    starts = [0, headers, 2 * headers, *range(3 * headers, len(content), block)]
    for start, end in zip(starts, [*starts[1:], len(content)], strict=True):
        words = np.frombuffer(bytes(content[start + 8 : end]), "<u8")
        mixed = np.bitwise_xor.reduce(words * np.uint64(0xBF58476D1CE4E5B9))
        content[start : start + 8] = int(mixed ^ np.uint64(5381)).to_bytes(8, "little")


def test_the_check_sums_are_understood(honest: bytes) -> None:
    content = bytearray(honest)
    checked(content)
    assert content == honest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("careful", [False, True], ids=["flipped", "flipped and checked"])
def test_flipped_bits_give_an_answer_or_an_error(
    path: Path, honest: bytes, careful: bool, seed: int
) -> None:
    chance = random.Random(seed)
    used = [place for place, byte in enumerate(honest) if byte]

    right = [ask() for ask in list(questions(anew(path)))[:6]]

    def flip_and_ask() -> None:
        for _ in range(6):
            content = bytearray(honest)
            for place in chance.choices(used, k=chance.choice([1, 1, 4, 40])):
                content[place] ^= 1 << chance.randrange(8)
            if careful:
                checked(content)
            path.write_bytes(content)
            for ask, expected in zip(questions(anew(path)), right, strict=False):
                try:
                    answer = ask()
                except StoreError:
                    continue
                assert careful or answer == expected

    in_time(flip_and_ask)
