"""A home copied while it is in use, and made again from the copy."""

import json
import shutil
import sqlite3
import stat
import tarfile
import threading
from contextlib import closing

import pytest
from click.testing import CliRunner

from arena import Arena
from arena.backup import MANIFEST, back_up, restore
from arena.cli import main
from arena.errors import BackupUnusable, UsageFault
from arena.store import MatchStore
from tests.arena.test_play import HOUSE, ROCK, arena_play, finished, registered, table_of


@pytest.fixture
def played(arena):
    registered(arena, "me/rock", ROCK)
    arena.play("rrps", 2, only=HOUSE[:3])
    with closing(sqlite3.connect(arena.home.path / "runs.sqlite")) as runs:
        runs.execute("pragma journal_mode=wal")
        runs.execute("create table run (name text)")
        runs.execute("insert into run values ('first')")
        runs.commit()
    return arena


def test_what_comes_back_is_what_was_there(played, tmp_path):
    archive = tmp_path / "copy.tar"
    made = back_up(played.home, archive)
    assert {one.name for one in made.files} == {
        "registry.sqlite",
        "matches.duckdb",
        "matches.mark",
        "runs.sqlite",
    }
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert restore(archive, tmp_path / "again") == made
    with closing(sqlite3.connect(tmp_path / "again" / "runs.sqlite")) as runs:
        assert runs.execute("select name from run").fetchall() == [("first",)]
    with Arena(tmp_path / "again", create=False, sandbox="process", workers=1) as again:
        assert table_of(again) == table_of(played)
        assert again.policies("rrps") == played.policies("rrps")
        more = [one.play("rrps", 3, only=HOUSE[:3]).played for one in (again, played)]
        assert more == [3, 3]
        assert table_of(again) == table_of(played)  # the seeds are the same as well


def test_a_copy_that_is_made_while_others_write_is_whole(played, tmp_path):
    """Every match that somebody saw before is in it, and every match has its policies."""
    player = arena_play(played.home.path, "--matches", "60", "--workers", "1")
    stop, entered = threading.Event(), []

    def submits():
        while not stop.is_set():
            number = len(entered)
            entered.append(registered(played, f"me/p{number}", f"{ROCK}# {number}\n"))

    author = threading.Thread(target=submits)
    author.start()
    try:
        copies = []
        while player.poll() is None or len(copies) < 2:
            seen = {row.id for row in played.home.store.matches("rrps", 1)}
            known = list(entered)
            archive = tmp_path / f"{len(copies)}.tar"
            back_up(played.home, archive)
            copies.append((archive, seen, known))
    finally:
        stop.set()
        author.join()
        finished(player)
    for archive, seen, known in copies[:1] + copies[-2:]:
        folder = tmp_path / archive.stem
        restore(archive, folder)
        with Arena(folder, create=False, sandbox="process", workers=1) as again:
            rows = list(again.matches("rrps", limit=None))
            there = {one.digest for one in again.policies("rrps")}
        assert seen <= {row.id for row in rows}
        assert {digest for row in rows for digest in row.seats} <= there
        assert set(known) <= there


@pytest.mark.postgres
def test_a_registry_on_a_server_becomes_a_file_and_one_on_a_server_again(postgres_server, tmp_path):
    from tests.registry.conftest import fresh_postgres

    with fresh_postgres(postgres_server) as first, fresh_postgres(postgres_server) as second:
        with Arena(tmp_path / "first", registry=first, sandbox="process", workers=1) as arena:
            digest = registered(arena, "me/rock", ROCK)
            arena.play("rrps", 2, only=HOUSE[:2])
            back_up(arena.home, tmp_path / "copy.tar")
            table = table_of(arena)
        restore(tmp_path / "copy.tar", tmp_path / "file")
        restore(tmp_path / "copy.tar", tmp_path / "server", second)
        assert not (tmp_path / "server" / "registry.sqlite").exists()
        for place, url in (("file", None), ("server", second)):
            with Arena(tmp_path / place, registry=url, create=False, workers=1) as again:
                assert table_of(again) == table
                assert again.policy("me/rock", "rrps").digest == digest


def rewritten(archive, change):
    """The archive with its members changed: name to content, in place."""
    with tarfile.open(archive) as tar:
        members = [(one, tar.extractfile(one).read()) for one in tar.getmembers()]
    with tarfile.open(archive, "w") as tar:
        for member, content in change(members):
            member.size = len(content)
            scratch = archive.with_name("member")
            scratch.write_bytes(content)
            with scratch.open("rb") as file:
                tar.addfile(member, file)


def test_the_matches_of_finals_are_kept(played, tmp_path):
    final = played.home.path / "finals" / "spring-2"
    final.mkdir(parents=True)
    shutil.copy(played.home.store.path, final / "matches.duckdb")
    back_up(played.home, tmp_path / "copy.tar")
    restore(tmp_path / "copy.tar", tmp_path / "again")
    kept = MatchStore(tmp_path / "again" / "finals" / "spring-2" / "matches.duckdb")
    assert kept.matches("rrps", 1) == played.home.store.matches("rrps", 1)


def flip(members):
    *others, (last, content) = members
    return [*others, (last, content[:-1] + bytes([content[-1] ^ 1]))]


def outside(members):
    (first, told), *others = members
    told = told.replace(b"registry.sqlite", b"../registry.sql")
    return [(first, told), *others]


def newer(members):
    (first, told), *others = members
    return [(first, json.dumps(json.loads(told) | {"format": 99}).encode()), *others]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (flip, "not what was written"),
        (outside, "no archive of a home"),
        (newer, "format 99"),
        (lambda members: members[:-1], "there should be"),
        (lambda members: members[1:], f"there should be {MANIFEST}"),
        (lambda members: [*members, members[-1]], "holds more"),
    ],
)
def test_what_is_not_as_it_was_written_makes_no_home(arena, tmp_path, change, message):
    archive = tmp_path / "copy.tar"
    back_up(arena.home, archive)
    rewritten(archive, change)
    with pytest.raises(BackupUnusable, match=message):
        restore(archive, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not list(tmp_path.glob("again.*"))


def test_nothing_is_written_over(arena, tmp_path):
    archive = tmp_path / "copy.tar"
    archive.write_text("mine")
    with pytest.raises(UsageFault, match="there already"):
        back_up(arena.home, archive)
    assert archive.read_text() == "mine"
    archive.unlink()
    back_up(arena.home, archive)
    with pytest.raises(UsageFault, match="not empty"):
        restore(archive, arena.home.path)


def test_a_full_disk_leaves_no_archive(arena, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arena.backup._write", full)
    with pytest.raises(BackupUnusable, match="No space left"):
        back_up(arena.home, tmp_path / "copy.tar")
    assert not list(tmp_path.glob("copy.tar*"))


def test_the_commands(arena, tmp_path):
    archive, home = str(tmp_path / "copy.tar"), ["--home", str(arena.home.path)]
    made = CliRunner().invoke(main, ["backup", archive, *home, "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["files"]
    again = ["--home", str(tmp_path / "again")]
    restored = CliRunner().invoke(main, ["restore", archive, *again])
    assert restored.exit_code == 0, restored.output
    assert "is as it was at" in " ".join(restored.output.split())
    refused = CliRunner().invoke(main, ["restore", archive, *again])
    assert refused.exit_code == 2
    assert "is not empty" in " ".join(refused.stderr.split())
