"""The gVisor walls for real: Docker with the runtime runsc, and runsc alone.

They skip where gVisor is not installed, and fail there instead with
ARENA_TEST_REQUIRE_GVISOR=1.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sandbox
from sandbox import gvisor_image
from sandbox.doctor import examine
from sandbox.errors import SandboxUnavailable
from sandbox.gvisor import GVisorWall
from sandbox.gvisor_containers import LABEL, ContainerLimits, ours, sweep
from sandbox.gvisor_docker import ask_docker
from sandbox.gvisor_owner import Owner
from sandbox.gvisor_probe import State
from sandbox.process import ProcessWall
from sandbox.rootless import RootlessWall, sweep_folders
from sandbox.values import EXTERNAL, Block, BlockMatch, FaultKind, Limits, Rules, SeatPlan
from sandbox.wall import Wall

pytestmark = [pytest.mark.gvisor, pytest.mark.usefixtures("gvisor")]

PROJECT = Path(sandbox.__file__).resolve().parent.parent
RULES = Rules(PROJECT / "arena" / "games" / "rrps" / "table.py", "Agent", (("act", 1),))
LIMITS = Limits(load_seconds=10.0, act_seconds=5.0)
SECONDS_TO_VANISH = 30.0

RANDOM = """
import random

class Agent:
    def act(self, observation):
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
"""
NUMPY = """
import numpy as np

class Agent:
    def __init__(self):
        self.counts = np.ones(3)

    def act(self, observation):
        names = ["ROCK", "PAPER", "SCISSORS"]
        if observation["opponent_action"] is not None:
            self.counts[names.index(observation["opponent_action"])] += 1
        likely = np.random.choice(3, p=self.counts / self.counts.sum())
        return names[(int(likely) + 1) % 3]
"""
COPIES = """
class Agent:
    def act(self, observation):
        return observation["opponent_action"] or "PAPER"
"""
FLOATS = """
import math
import random

class Agent:
    def __init__(self):
        self.value = 0.5

    def act(self, observation):
        self.value = math.sin(self.value * 12.9898 + random.random()) * 0.5 + 0.5
        return ("ROCK", "PAPER", "SCISSORS")[min(2, int(self.value * 3))]
"""
CRASHES = """
class Agent:
    def __init__(self):
        self.throws = 0

    def act(self, observation):
        self.throws += 1
        if self.throws == 100:
            raise RuntimeError("enough")
        return "ROCK"
"""
POLICIES = (RANDOM, NUMPY, COPIES, FLOATS, CRASHES)


def block_of(sources: tuple[str, ...], count: int, *, isolate: bool) -> Block:
    """`count` matches, the pairs of the sources in turn."""
    pairs = itertools.cycle(itertools.combinations_with_replacement(range(len(sources)), 2))
    matches = tuple(
        BlockMatch(number, (SeatPlan(one, 2 * number), SeatPlan(other, 2 * number + 1)))
        for number, (one, other) in zip(range(count), pairs, strict=False)
    )
    return Block(RULES, sources, matches, isolate, LIMITS)


@pytest.fixture(scope="module", params=[GVisorWall, RootlessWall], ids=["docker", "rootless"])
def wall(request: pytest.FixtureRequest, gvisor: None) -> Iterator[Wall]:
    opened: Wall = request.param()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def process_wall() -> Iterator[ProcessWall]:
    opened = ProcessWall()
    yield opened
    opened.close()


def children() -> set[str]:
    """Command names of this process's living children."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if rest.split()[:2] != ["Z", str(os.getpid())] and rest.split()[1] == str(os.getpid()):
            found.add(name)
    return found


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SECONDS_TO_VANISH
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def containers(name: str) -> str:
    return ask_docker("ps", "--all", "--quiet", "--filter", f"name={name}")


@pytest.mark.parametrize("isolate", [False, True], ids=["lockstep", "isolated"])
def test_moves_do_not_depend_on_the_wall(
    wall: Wall, process_wall: ProcessWall, isolate: bool
) -> None:
    block = block_of(POLICIES, 15, isolate=isolate)
    here, there = process_wall.play(block), wall.play(block)
    assert [outcome.moves for outcome in there] == [outcome.moves for outcome in here]
    kinds = [outcome.fault and (outcome.fault.seat, outcome.fault.kind) for outcome in there]
    assert kinds == [o.fault and (o.fault.seat, o.fault.kind) for o in here]
    assert any(kind == (1, FaultKind.CRASHED) for kind in kinds)
    assert all(outcome.final for outcome in there)


def test_wall_names_gvisor_and_its_release(wall: Wall) -> None:
    kind, _, release = wall.name.partition("/")
    assert kind in ("gvisor", "gvisor-rootless")
    assert release[:8].isdigit()


def test_workers_have_users_and_an_empty_root_of_their_own(wall: GVisorWall) -> None:
    assert wall.box.ready["seal"] == "rlimits, own user, empty root, seccomp"


def test_external_seats_are_asked_through_the_wall(wall: Wall) -> None:
    seats = (SeatPlan(EXTERNAL, 0), SeatPlan(0, 1))
    block = Block(RULES, (COPIES,), (BlockMatch(0, seats),), False, LIMITS)
    asked = []

    def paper(messages: bytes) -> bytes:
        asked.append(messages)
        return b"\x01"

    (outcome,) = wall.play(block, paper)
    assert outcome.fault is None
    assert len(asked) == 1000


def test_a_container_is_what_it_was_asked_to_be() -> None:
    wall = GVisorWall(ContainerLimits(memory_mib=700))
    try:
        (seen,) = json.loads(ask_docker("inspect", wall.container))
    finally:
        wall.close()
    host = seen["HostConfig"]
    assert host["Runtime"] == "runsc"
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert host["Memory"] == host["MemorySwap"] == 700 * 1024 * 1024
    assert host["CpusetCpus"] == ("" if wall.core is None else str(wall.core))
    assert (wall.core is None) == (len(os.sched_getaffinity(0)) == 1)
    assert not host["Binds"] and not seen["Mounts"]
    assert not containers(wall.container)


def test_many_matches_leave_nothing_behind() -> None:
    before, files, others = children(), len(os.listdir("/proc/self/fd")), ours()
    wall = GVisorWall()
    container = wall.container
    lockstep = [wall.play(block_of(POLICIES[:4], 90, isolate=False)) for _ in range(3)]
    isolated = wall.play(block_of(POLICIES[:4], 30, isolate=True))
    assert sum(len(outcomes) for outcomes in lockstep) + len(isolated) == 300
    assert all(o.fault is None for outcomes in (*lockstep, isolated) for o in outcomes)
    # The referee, the first zygote, this game's two, and nobody else: workers end with their block.
    assert len(processes_inside(container)) <= 4
    wall.close()
    wall.close()
    assert not containers(container)
    assert ours() == others
    assert children() == before
    assert len(os.listdir("/proc/self/fd")) == files
    with pytest.raises(SandboxUnavailable):
        wall.play(block_of(POLICIES, 1, isolate=False))


def processes_inside(container: str) -> list[str]:
    question = "import os; print(*[p for p in os.listdir('/proc') if p.isdigit()])"
    listed = ask_docker("exec", container, "python3", "-I", "-S", "-c", question)
    return listed.split()[:-1]  # the last is the one that asks


def test_a_container_killed_in_the_middle_is_our_fault_and_the_next_works() -> None:
    wall = GVisorWall()
    seats = (SeatPlan(EXTERNAL, 0), SeatPlan(0, 1))
    block = Block(RULES, (COPIES,), (BlockMatch(0, seats),), False, LIMITS)

    def kills(messages: bytes) -> bytes:
        ask_docker("kill", wall.container)
        return b"\x00"

    with pytest.raises(SandboxUnavailable, match="gvisor/"):
        wall.play(block, kills)
    assert not containers(wall.container)
    following = GVisorWall()
    try:
        outcomes = following.play(block_of(POLICIES, 4, isolate=False))
        assert [outcome.fault for outcome in outcomes] == [None] * 4
    finally:
        following.close()


@pytest.mark.parametrize("kind", [GVisorWall, RootlessWall], ids=["docker", "rootless"])
def test_a_gvisor_that_hangs_is_ended_all_the_same(
    kind: type[GVisorWall] | type[RootlessWall],
) -> None:
    wall = kind()
    if isinstance(wall, GVisorWall):
        word = ask_docker("inspect", "--format", "{{.Id}}", wall.container)
    else:
        word = str(wall.folder)
    sandboxes = [pid for pid in processes_named(word) if is_gvisor_kernel(pid)]
    assert len(sandboxes) == 1
    if os.geteuid() == 0 or kind is RootlessWall:
        os.kill(int(sandboxes[0]), signal.SIGSTOP)
    wall.close()
    assert eventually(lambda: not processes_named(word))
    if isinstance(wall, GVisorWall):
        container = wall.container
        assert eventually(lambda: container not in ours())


def is_gvisor_kernel(pid: str) -> bool:
    return b"runsc-sandbox" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_rootless_box_killed_in_the_middle_leaves_no_folder() -> None:
    wall = RootlessWall()
    seats = (SeatPlan(EXTERNAL, 0), SeatPlan(0, 1))
    block = Block(RULES, (COPIES,), (BlockMatch(0, seats),), False, LIMITS)

    def kills(messages: bytes) -> bytes:
        os.kill(wall.box.pid, signal.SIGKILL)
        return b"\x00"

    with pytest.raises(SandboxUnavailable, match="gvisor-rootless/"):
        wall.play(block, kills)
    assert not wall.folder.exists()
    assert eventually(lambda: not processes_named(str(wall.folder)))


OPENER = """
import sys
from sandbox.gvisor import GVisorWall
from sandbox.rootless import RootlessWall
one, other = GVisorWall(), RootlessWall()
print(one.container, other.folder, flush=True)
sys.stdin.read()
"""


def test_boxes_end_with_a_process_that_is_killed() -> None:
    opener = subprocess.Popen(
        [sys.executable, "-c", OPENER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    assert opener.stdin is not None and opener.stdout is not None
    with opener.stdin, opener.stdout:
        container, folder = opener.stdout.readline().split()
        assert containers(container)
        opener.send_signal(signal.SIGKILL)
        opener.wait()
    assert eventually(lambda: not containers(container))
    assert eventually(lambda: not processes_named(folder))
    assert Path(folder) in sweep_folders()
    assert not Path(folder).exists()


def processes_named(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def all_containers() -> list[str]:
    return ask_docker("ps", "--all", "--quiet", "--no-trunc").split()


def start_container(owner: Owner) -> str:
    """A container that does nothing but stay, as if `owner` had left it behind."""
    return ask_docker(
        "run", "--detach", "--rm", "--runtime", "runsc", "--network", "none",
        "--label", f"{LABEL}={owner.text()}", "--entrypoint", "python3",
        gvisor_image.image_tag(), "-c", "import time; time.sleep(600)",
    )  # fmt: skip


def test_orphans_are_swept_and_others_are_not() -> None:
    current = Owner.current()
    gone = Owner(current.machine, current.boot, current.namespace, current.process, "1")
    others = ours()
    orphan, kept = start_container(gone), start_container(current)
    try:
        sweep()  # or another process that opens a wall at this moment
        assert eventually(lambda: orphan not in all_containers())
        assert kept in all_containers()
        assert len(ours()) == len(others) + 1
    finally:
        ask_docker("rm", "--force", kept)


def test_the_doctor_finds_everything_in_order() -> None:
    findings = {finding.name: finding for finding in examine()}
    for name in (
        "docker client",
        "docker daemon",
        "runtime runsc",
        "image",
        "a container's kernel",
        "runsc without root",
        "self-check of gvisor",
        "self-check of gvisor-rootless",
    ):
        assert findings[name].state is State.OK, findings[name]
