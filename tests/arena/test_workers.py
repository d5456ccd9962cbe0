"""Worker processes: every job is answered once, and nothing outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.errors import WorkerDied
from arena.workers import WorkerPool


@dataclass
class Squares:
    """Squares numbers; told to, it misbehaves."""

    def run(self, job):
        if job == "raise":
            raise ValueError("no such number")
        if job == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if job == "pid":
            return os.getpid()
        return job * job

    def close(self):
        pass


def workers(count):
    pool = WorkerPool(Squares)
    pool.grow(count)
    return pool


def test_every_job_is_answered_once():
    with workers(2) as pool:
        assert sorted(pool.run(iter(range(1, 40)))) == [n * n for n in range(1, 40)]


def test_a_pool_grows_and_never_shrinks():
    with workers(1) as pool:
        first = set(pool.run(iter(["pid"])))
        pool.grow(3)
        pool.grow(1)
        assert sorted(pool.run(iter(range(30)))) == [n * n for n in range(30)]
        pids = set(pool.run(iter(["pid"] * 60)))
    assert first < pids
    assert len(pids) == 3


def test_extra_jobs_go_first():
    extra = [7, 8]
    with workers(1) as pool:
        answers = list(pool.run(iter([1, 2]), lambda: extra.pop() if extra else None))
    assert answers == [64, 49, 1, 4]


def test_an_exception_in_a_job_is_raised_here():
    with workers(1) as pool, pytest.raises(ValueError, match="no such number"):
        list(pool.run(iter(["raise"])))


def test_a_dead_worker_is_our_fault_and_says_so():
    with workers(1) as pool, pytest.raises(WorkerDied, match="status -9"):
        list(pool.run(iter(["die"])))


SCRIPT = """
import sys, time
sys.path.insert(0, {here!r})
from test_workers import Squares
from arena.workers import WorkerPool
if __name__ == "__main__":
    pool = WorkerPool(Squares)
    pool.grow(2)
    print(*pool.run(iter(["pid", "pid"])), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
def test_workers_die_with_a_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent)))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    workers = {int(pid) for pid in parent.stdout.readline().split()}
    assert workers
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)
