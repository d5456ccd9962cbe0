"""The process wall as a process: what it leaves behind, who may run it, what load does to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sandbox.errors import SandboxRefused, SandboxUnavailable
from sandbox.link import BOX_ENVIRONMENT, BOX_FOLDER, BoxLink, box_command, descendants
from sandbox.process import ProcessWall, base_python, usable_bubblewrap
from sandbox.self_check import contained, environment_canary, self_check
from sandbox.values import Block, BlockMatch, Limits, Rules, SeatPlan

NOBODY = 65_534
ROOT = Path(__file__).parents[2]
SLOW = """
class Probe:
    def act(self, seen):
        while True:
            pass
"""
QUICK = """
class Probe:
    def act(self, seen):
        return "ROCK"
"""
BUBBLEWRAP = [False] if usable_bubblewrap() is None else [False, True]


def block_of(rules: Rules, *programs: str, limits: Limits | None = None) -> Block:
    matches = tuple(
        BlockMatch(number, (SeatPlan(number, 1), SeatPlan(number, 2)))
        for number in range(len(programs))
    )
    return Block(rules, programs, matches, True, limits or Limits())


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def tree(wall: ProcessWall) -> list[int]:
    return [wall.link.pid, *descendants(wall.link.pid)]


@pytest.mark.parametrize("bubblewrap", BUBBLEWRAP)
def test_closing_leaves_nothing(throws: Rules, bubblewrap: bool) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    wall = ProcessWall(bubblewrap=bubblewrap)
    wall.play(block_of(throws, QUICK, QUICK + "import numpy"))
    pids = tree(wall)
    assert len(pids) >= 3
    wall.close()
    wall.close()
    wait_until(lambda: not any(map(alive, pids)))
    assert len(os.listdir("/proc/self/fd")) == descriptors
    with pytest.raises(SandboxUnavailable, match="closed"):
        wall.play(block_of(throws, QUICK))


@pytest.mark.parametrize("bubblewrap", BUBBLEWRAP)
def test_it_dies_with_its_host_in_the_middle_of_a_match(throws: Rules, bubblewrap: bool) -> None:
    script = f"""
import os, sys
from pathlib import Path
from sandbox.link import descendants
from sandbox.process import ProcessWall
from sandbox.values import *
rules = Rules(Path({str(throws.table_path)!r}), "Probe", (("act", 1),))
seats = (SeatPlan(0, 1), SeatPlan(0, 2))
limits = Limits(act_seconds=600, match_seconds=600)
wall = ProcessWall(bubblewrap={bubblewrap})
print(wall.link.pid, flush=True)
wall.play(Block(rules, ({SLOW!r},), (BlockMatch(1, seats),), True, limits))
"""
    host = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert host.stdout is not None
    box = int(host.stdout.readline())
    expected = 4 + 2 * bubblewrap  # referee, zygote, two workers; bubblewrap adds two
    wait_until(lambda: len(descendants(box)) + 1 >= expected)
    pids = [box, *descendants(box)]
    host.send_signal(signal.SIGKILL)
    host.wait()
    host.stdout.close()
    wait_until(lambda: not any(map(alive, pids)))


def test_workers_die_with_a_referee_that_is_killed(throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False)
    limits = Limits(act_seconds=600, match_seconds=600)
    pids: list[int] = []

    def kill_the_referee() -> None:
        wait_until(lambda: len(tree(wall)) >= 4)
        pids.extend(tree(wall))
        os.kill(wall.link.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_the_referee)
    killer.start()
    with pytest.raises(SandboxUnavailable, match="it ended"):
        wall.play(block_of(throws, SLOW, limits=limits))
    killer.join()
    wait_until(lambda: not any(map(alive, pids)))
    wall.close()


def test_it_outlives_the_thread_that_opened_it(throws: Rules) -> None:
    opened: list[ProcessWall] = []
    thread = threading.Thread(target=lambda: opened.append(ProcessWall()))
    thread.start()
    thread.join()
    (outcome,) = opened[0].play(block_of(throws, QUICK))
    assert outcome.fault is None
    opened[0].close()


def test_a_killed_zygote_is_our_fault(throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False)
    wall.play(block_of(throws, QUICK))
    for zygote in descendants(wall.link.pid):
        os.kill(zygote, signal.SIGKILL)
    with pytest.raises(SandboxUnavailable, match="zygote"):
        wall.play(block_of(throws, QUICK))
    wall.close()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import time; time.sleep(60)", "said nothing"),
        ("print('hello there, this is no frame at all', flush=True)", "frame"),
        ("import sys; sys.exit('no numpy here')", "no numpy here"),
        ("import os; os.write(1, b'\\xff' * 100)", "frame"),
        ("import os; os.write(1, b'\\2\\0\\0\\0\\x10xx'); input()", "document"),
    ],
)
def test_a_box_that_talks_garbage_is_our_fault(script: str, message: str) -> None:
    with pytest.raises(SandboxUnavailable, match=message):
        BoxLink([sys.executable, "-c", script], "broken", start_seconds=3)


def test_a_command_that_is_not_there_is_our_fault() -> None:
    with pytest.raises(SandboxUnavailable, match="cannot start"):
        BoxLink(["/nowhere/python"], "missing")


def test_an_honest_policy_survives_a_loaded_machine(throws: Rules) -> None:
    """Six busy processes on its very core; its calls take a third of what they may."""
    steps, started = 200_000, time.process_time()
    for _ in range(steps):
        pass
    steps = int(steps * 0.02 / (time.process_time() - started))
    thinker = f"""
class Probe:
    def act(self, seen):
        for _ in range({steps}):
            pass
        return "ROCK"
"""
    limits = Limits(act_seconds=0.06, match_seconds=1.2, match_idle_seconds=1.0)
    wall = ProcessWall(bubblewrap=False)
    core = min(os.sched_getaffinity(wall.link.pid))
    burners = [
        subprocess.Popen(
            [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile 1: 0"]
        )
        for _ in range(6)
    ]
    try:
        (outcome,) = wall.play(block_of(throws, thinker, limits=limits))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
        wall.close()
    assert outcome.fault is None, outcome.fault
    assert outcome.cpu_seconds[0] > 0.2


NOT_ROOT = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from sandbox.process import ProcessWall
from sandbox.self_check import contained, environment_canary, self_check
from sandbox.values import *
with environment_canary() as secret:
    wall = ProcessWall(bubblewrap={bubblewrap})
    findings = self_check(wall, secret)
rules = Rules(Path({table!r}), "Probe", (("act", 1),))
seats = (SeatPlan(0, 1), SeatPlan(0, 2))
(outcome,) = wall.play(Block(rules, ({source!r},), (BlockMatch(1, seats),), True, Limits()))
wall.close()
print(contained(findings), outcome.fault, len(outcome.moves), findings)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="all other tests ran without root already")
@pytest.mark.parametrize("bubblewrap", BUBBLEWRAP)
def test_it_works_without_root(throws: Rules, bubblewrap: bool) -> None:
    script = NOT_ROOT.format(
        root=str(ROOT), bubblewrap=bubblewrap, table=str(throws.table_path), source=QUICK
    )
    python = next(path for path in (base_python(), "/usr/bin/python3") if _nobody_can_run(path))
    done = subprocess.run(
        [python, "-c", script],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True None 40"), done.stdout


def _nobody_can_run(path: str) -> bool:
    try:
        command = [path, "-c", "import enum; enum.StrEnum"]
        done = subprocess.run(
            command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def test_bubblewrap_shows_the_box_next_to_nothing() -> None:
    with environment_canary() as secret:
        wall = ProcessWall()
        assert contained(self_check(wall, secret))
        wall.close()
    if usable_bubblewrap() is None:
        assert wall.name == "process"
    else:
        assert wall.name == "process/bubblewrap"


def test_the_self_check_notices_an_environment_that_leaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with environment_canary() as secret:
        environment = {**os.environ, **BOX_ENVIRONMENT}
        monkeypatch.setattr("sandbox.process.BoxLink", partial(BoxLink, environment=environment))
        wall = ProcessWall(bubblewrap=False)
        findings = self_check(wall, secret)
        wall.close()
    assert [finding.name for finding in findings if not finding.contained] == [
        "reads the environment"
    ]


def test_an_insisted_on_bubblewrap_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxRefused, match="bubblewrap"):
        ProcessWall(bubblewrap=True)
    wall = ProcessWall()
    assert wall.name == "process"
    wall.close()


def test_the_box_sees_no_environment_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_PROBE", "visible")
    wall = ProcessWall(bubblewrap=False)
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in tree(wall)]
    wall.close()
    assert all(b"ARENA_PROBE" not in environment for environment in environments)
    assert all(b"PYTHONHASHSEED=0" in environment for environment in environments)


def test_the_box_is_the_standard_library_alone() -> None:
    """The box starts with nothing but its folder and an empty path."""
    command = box_command(base_python(), str(BOX_FOLDER))
    link = BoxLink(command, "bare")
    assert "seccomp" in link.ready["seal"]
    link.close()


@pytest.mark.parametrize("isolate", [True, False])
def test_many_matches_leak_nothing(throws: Rules, isolate: bool) -> None:
    wall = ProcessWall(bubblewrap=False)
    matches = tuple(
        BlockMatch(number, (SeatPlan(0, number), SeatPlan(1, number))) for number in range(40)
    )
    block = Block(throws, (QUICK, QUICK + "\n"), matches, isolate)
    wall.play(block)
    processes = tree(wall)
    descriptors = [len(os.listdir(f"/proc/{pid}/fd")) for pid in processes]
    for _ in range(3):
        wall.play(block)
    assert tree(wall) == processes
    assert [len(os.listdir(f"/proc/{pid}/fd")) for pid in processes] == descriptors
    wall.close()
