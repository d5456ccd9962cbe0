"""Warm DuckDB instances serve one access after the other, and nothing passes between them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import duckdb
import pytest

from arena.store import MatchStore, instances
from arena.store.database import Database
from arena.store.instances import MOST_IDLE, Instances
from tests.arena.test_store_trouble import GAME, batch, stored


@pytest.fixture
def started(monkeypatch):
    """Counts the instances that are started."""
    counted = []
    start = Instances._started

    def counting(self):
        counted.append(self)
        return start(self)

    monkeypatch.setattr(Instances, "_started", counting)
    return counted


def asked(database):
    with database.reading() as connection:
        return connection.execute("select count(*) from matches").fetchone()[0]


def test_one_instance_serves_access_after_access(tmp_path, started):
    store = MatchStore(tmp_path / "matches.duckdb")
    for first in range(0, 50, 10):
        assert store.append(GAME, batch(first, 10)) == 10
        assert stored(store) == first + 10
    newborn, *others = started
    assert newborn is not others[0] and len(others) == 1


def test_an_instance_that_may_have_read_much_is_ended(tmp_path, started, monkeypatch):
    monkeypatch.setattr(instances, "KEPT_BYTES", 1)
    database = Database(tmp_path / "matches.duckdb", 10.0)
    assert [asked(database) for _ in range(3)] == [0, 0, 0]
    assert len(started) >= 4


def test_few_are_kept_of_many_that_read_at_once(tmp_path):
    path = tmp_path / "matches.duckdb"
    MatchStore(path).append(GAME, batch(0, 10))
    of_file, together = Instances(path), threading.Barrier(6)

    def read():
        with of_file.attached(read_only=True) as connection:
            together.wait(30)
            assert connection.execute("select count(*) from matches").fetchone() == (10,)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(of_file._idle) == MOST_IDLE
    of_file.end_idle()
    assert not of_file._idle


def test_a_block_that_raises_leaves_an_instance_that_works(tmp_path):
    database = Database(tmp_path / "matches.duckdb", 10.0)
    for access in (database.reading, database.writing):
        with pytest.raises(ZeroDivisionError), access() as connection:
            connection.execute("create temp table left_behind as select 1")
            raise ZeroDivisionError
        with database.reading() as connection, pytest.raises(duckdb.CatalogException):
            connection.execute("from left_behind")


def test_questions_of_others_leave_nothing_in_the_instances_of_the_store(tmp_path):
    store = MatchStore(tmp_path / "matches.duckdb")
    store.append(GAME, batch(0, 10))
    for _ in range(2):
        with store.reading() as connection:
            connection.create_function("thrice", lambda x: 3 * x, ["INTEGER"], "INTEGER")
            connection.execute("create schema memory.attached; create table memory.matches (i int)")
            assert connection.execute("select thrice(2)").fetchone() == (6,)
    assert store.append(GAME, batch(10, 10)) == 10
    assert stored(store) == 20


@pytest.mark.parametrize("ending", [".new", ".other", ""])
def test_nothing_else_can_be_written_or_read(tmp_path, ending):
    store = MatchStore(tmp_path / "matches.duckdb")
    store.append(GAME, batch(0, 10))
    other = tmp_path / f"other{ending}"
    other.write_text("secret")
    target = f"{store.path}{ending}" if ending else str(other)
    for question in (f"copy (select 1) to '{target}'", f"attach '{other}' as b"):
        with pytest.raises(duckdb.PermissionException), store.reading() as connection:
            connection.execute(question)
    with pytest.raises(duckdb.PermissionException), store.reading() as connection:
        connection.execute(f"from read_text('{store.path}/../other{ending}')")


def test_a_store_stays_where_it_was_when_the_process_goes_elsewhere(tmp_path, monkeypatch):
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    store = MatchStore(Path("matches.duckdb"))
    assert store.append(GAME, batch(0, 10)) == 10
    monkeypatch.chdir(tmp_path / "there")
    assert stored(store) == 10
    assert store.append(GAME, batch(10, 5)) == 5
    assert not list((tmp_path / "there").iterdir())


@pytest.mark.parametrize("reads", [True, False])
def test_a_copy_of_the_process_may_let_go_of_a_store(tmp_path, reads, monkeypatch):
    # As on a machine of many cores: an instance of few threads is let go of unharmed by luck.
    monkeypatch.setattr(instances, "_SEALED", {**instances._SEALED, "threads": "8"})
    store = MatchStore(tmp_path / "matches.duckdb")
    store.append(GAME, batch(0, 10))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if reads:
                assert stored(store) == 10
            del store
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert stored(store) == 10
