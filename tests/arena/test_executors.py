"""Executors: every chunk is answered once, whoever dies, and nothing outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.errors import ClusterUnavailable, WorkerDied
from arena.executors import Workers, open_executor
from arena.executors.local import LocalExecutor
from sandbox.errors import SandboxUnavailable


@dataclass
class Squares:
    """Squares numbers; told to, it misbehaves."""

    def run(self, chunk):
        match chunk:
            case "raise":
                raise ValueError("no such number")
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "pid":
                time.sleep(0.05)
                return os.getpid()
            case ("die once", marker):
                if not Path(marker).exists():
                    Path(marker).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return "done"
            case ("break once", marker):
                if not Path(marker).exists():
                    if Path(marker).parent.exists():
                        Path(marker).touch()
                    raise SandboxUnavailable("the box broke")
                return "done"
            case ("sleep", seconds):
                time.sleep(seconds)
                return seconds
        return chunk * chunk

    def close(self):
        pass


@pytest.fixture(params=["local", "local, given ahead", "ray"])
def executor(request):
    """An executor of each kind, with two workers."""
    cluster = None
    if request.param == "ray":
        cluster = request.getfixturevalue("cluster").address
    ahead = request.param == "local, given ahead"
    made = open_executor(Workers(2, cluster), Squares, brief=lambda chunk: ahead)
    started(made)
    yield made
    made.close()


def started(executor):
    """Waits until both workers are there: they do not start at the same moment."""
    executor.grow(2)
    pids = set()
    while len(pids) < 2:
        pids |= set(executor.run(iter(["pid"] * 4)))


def test_every_chunk_is_answered_once(executor):
    assert sorted(executor.run(iter(range(1, 40)))) == [n * n for n in range(1, 40)]


def test_it_never_has_more_workers_than_it_may(executor):
    executor.grow(30)
    executor.grow(1)
    assert executor.size == executor.capacity == 2
    assert len(set(executor.run(iter(["pid"] * 20)))) == 2


def test_extra_chunks_go_first(executor):
    extra = [7, 8]
    answers = executor.run(iter([1, 2]), lambda: extra.pop() if extra else None)
    assert sorted(answers) == [1, 4, 49, 64]
    extra = [7, 8]
    first = next(executor.run(iter([1, 2]), lambda: extra.pop() if extra else None))
    assert first in (49, 64)


@pytest.mark.parametrize(("brief", "taken"), [(True, 4), (False, 2)])
def test_only_behind_brief_chunks_is_another_given_ahead(brief, taken):
    seen = []
    with closing(LocalExecutor(Squares, most=2, brief=lambda chunk: brief)) as executor:
        executor.grow(2)
        answers = executor.run(seen.append(number) or number for number in range(9))
        assert next(answers) in (0, 1)
        assert len(seen) == taken
        assert len(list(answers)) == 8


def test_nothing_waits_behind_a_chunk_that_may_be_long():
    chunks = [("sleep", 2.0), *["pid"] * 6, ("sleep", 2.0)]
    with closing(LocalExecutor(Squares, most=2, brief=lambda chunk: chunk == "pid")) as executor:
        started(executor)
        begun = time.monotonic()
        pids = [one for one in executor.run(iter(chunks)) if one != 2.0]
        assert len(pids) == 6
        assert len(set(pids)) == 1
        assert time.monotonic() - begun < 3.9


def test_an_exception_in_a_chunk_is_raised_here(executor):
    with pytest.raises(ValueError, match="no such number"):
        list(executor.run(iter(["raise"])))


def test_whoever_watches_ends_it_in_the_middle_of_a_chunk(executor):
    class NotWanted(Exception):
        pass

    looks = []

    def watch():
        looks.append(time.monotonic())
        if len(looks) > 3:
            raise NotWanted

    began = time.monotonic()
    with pytest.raises(NotWanted):
        list(executor.run(iter([("sleep", 60.0)]), watch=watch))
    assert time.monotonic() - began < 30
    executor.grow(2)
    assert sorted(executor.run(iter([1, 2, 3]), watch=lambda: None)) == [1, 4, 9]


def test_an_error_leaves_no_answers_for_the_next_who_asks(executor):
    with pytest.raises(ValueError, match="no such number"):
        list(executor.run(iter([("sleep", 0.5), "raise"])))
    executor.grow(2)
    assert sorted(executor.run(iter([3, 4]))) == [9, 16]


def test_who_stops_listening_leaves_no_answers_for_the_next(executor):
    answers = executor.run(iter([2, ("sleep", 0.5), ("sleep", 0.5)]))
    assert next(answers) == 4
    answers.close()
    executor.grow(2)
    assert sorted(executor.run(iter([3, 4]))) == [9, 16]


def test_who_neither_listens_nor_closes_leaves_no_answers_for_the_next(executor):
    answers = executor.run(iter([2, ("sleep", 0.5), ("sleep", 0.5)]))
    assert next(answers) == 4
    executor.grow(2)
    assert sorted(executor.run(iter([3, 4, 6]))) == [9, 16, 36]
    answers.close()
    assert sorted(executor.run(iter([3, 4, 6]))) == [9, 16, 36]


def test_a_box_that_breaks_costs_its_chunk_another_try(executor, tmp_path, caplog):
    executor.grow(2)
    chunks = [("break once", str(tmp_path / "marker")), *range(20)]
    assert len(list(executor.run(iter(chunks)))) == 21
    assert executor.size == 2
    assert caplog.text.count("its chunk is played again: the box broke") == 1


def test_a_chunk_that_breaks_every_box_ends_with_what_broke_them(executor):
    with pytest.raises(WorkerDied, match=r"its box broke 3 times(.|\n)*: the box broke$"):
        list(executor.run(iter([("break once", "/no/such/folder/marker"), 2])))


def test_where_it_is_not_played_again_a_box_that_broke_is_told(tmp_path):
    chunk = ("break once", str(tmp_path / "marker"))
    with closing(LocalExecutor(Squares, most=1, again=False)) as executor:
        executor.grow(1)
        (pid,) = executor.run(iter(["pid"]))
        with pytest.raises(SandboxUnavailable, match="the box broke"):
            list(executor.run(iter([chunk])))
        assert list(executor.run(iter([chunk, "pid"]))) == ["done", pid], "its worker is well"


def test_a_chunk_outlives_its_worker(executor, tmp_path):
    chunks = [("die once", str(tmp_path / f"marker{n}")) for n in range(3)]
    found = list(executor.run(iter([*chunks, 2, 3])))
    assert sorted(map(str, found)) == ["4", "9", "done", "done", "done"]


def test_a_chunk_that_kills_whoever_has_it_is_our_fault_and_says_so(executor):
    with pytest.raises(WorkerDied, match="3 workers ended in the middle of one chunk"):
        list(executor.run(iter(["die"])))


def test_a_worker_that_died_between_chunks_costs_nothing():
    with closing(LocalExecutor(Squares, most=1)) as executor:
        executor.grow(1)
        (pid,) = executor.run(iter(["pid"]))
        os.kill(pid, signal.SIGKILL)
        os_forgets(pid)
        assert list(executor.run(iter([3]))) == [9]


def test_a_cluster_that_is_not_there_is_named():
    with pytest.raises(ClusterUnavailable, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
        open_executor(Workers(1, "127.0.0.1:1"), Squares)


SCRIPT = """
import sys, time
sys.path.insert(0, {here!r})
from test_executors import Squares
from arena.executors.local import LocalExecutor
if __name__ == "__main__":
    executor = LocalExecutor(Squares, most=2)
    executor.grow(2)
    print(*executor.run(iter(["pid"] * 20)), flush=True)
    time.sleep(60)
"""


def os_forgets(*pids):
    """Waits until processes are gone, or dead."""
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
def test_workers_die_with_a_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent)))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    workers = {int(pid) for pid in parent.stdout.readline().split()}
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    os_forgets(*workers)
