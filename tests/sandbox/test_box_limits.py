"""What a box as a whole may take: memory of all policies together, and time for a block."""

from __future__ import annotations

import socket
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box import box_memory
from sandbox.box import watch as watch_module
from sandbox.box.births import Zygote
from sandbox.box.box_memory import BoxMemory
from sandbox.box.frames import OUT_OF_MEMORY
from sandbox.box.hired import Worker
from sandbox.box.limits import Limits as BoxLimits
from sandbox.box.limits import WorkerFault
from sandbox.box.watch import Watch
from sandbox.deadline import longest_block
from sandbox.errors import SandboxUnavailable
from sandbox.link import BOX_FOLDER, BoxLink
from sandbox.memory import LEAST_MIB, MOST_MIB, available_mib, memory_for_a_box
from sandbox.process import ProcessWall, usable_bubblewrap
from sandbox.values import EXTERNAL, Block, BlockMatch, FaultKind, Limits, Rules, SeatPlan

ROOM = Limits(act_seconds=2.0, match_seconds=10.0, match_idle_seconds=5.0, memory_mib=256)
SHORT = replace(ROOM, act_seconds=0.4, load_seconds=0.4)
HOARDER = """
class Probe:
    def __init__(self):
        self.hoard = []
    def act(self, seen):
        if len(self.hoard) < {pieces}:
            self.hoard.append(b"x" * (16 << 20))
        for _ in range(400_000):  # stays a while, so that somebody looks
            pass
        return "ROCK"
"""
HOARDER_MIB = 160
PLAIN = "class Probe:\n    def act(self, seen):\n        return 'PAPER'\n"
BUBBLEWRAP = [False] if usable_bubblewrap() is None else [False, True]
HOARDERS = 8
BUDGET_MIB = 300
"""Holds one hoarder, and not two."""


def hoarder(mebibytes: int, name: str = "") -> str:
    """A policy that comes to hold so much."""
    return HOARDER.replace("{pieces}", str(mebibytes // 16)) + f"# {name}\n"


def hoarding_block(rules: Rules, hoarders: int, *, isolate: bool) -> Block:
    """Each hoarder meets an honest policy of its own; the last match is an honest pair."""
    sources = tuple(hoarder(HOARDER_MIB, str(number)) for number in range(hoarders))
    honest = hoarders
    pairs = [*((number, honest) for number in range(hoarders)), (honest, honest)]
    return block_of(rules, (*sources, PLAIN), pairs, isolate=isolate)


def block_of(
    rules: Rules, sources: tuple[str, ...], pairs: list[tuple[int, int]], *, isolate: bool
) -> Block:
    matches = tuple(
        BlockMatch(number, (SeatPlan(one, 1), SeatPlan(other, 2)))
        for number, (one, other) in enumerate(pairs)
    )
    return Block(rules, sources, matches, isolate, ROOM)


@pytest.mark.parametrize("bubblewrap", BUBBLEWRAP)
def test_hoarders_together_do_not_break_the_box(throws: Rules, bubblewrap: bool) -> None:
    wall = ProcessWall(bubblewrap=bubblewrap, memory_mib=BUDGET_MIB)
    try:
        *hoarding, honest = wall.play(hoarding_block(throws, HOARDERS, isolate=False))
        killed = [outcome for outcome in hoarding if outcome.fault is not None]
        assert len(killed) >= HOARDERS - 1
        for outcome in killed:
            assert outcome.fault is not None
            assert (outcome.fault.seat, outcome.fault.kind) == (0, FaultKind.OUT_OF_MEMORY)
            assert f"{BUDGET_MIB} MiB" in outcome.fault.message
            assert not outcome.final
        assert (honest.fault, honest.final, len(honest.moves)) == (None, True, 40)
    finally:
        wall.close()


@pytest.mark.parametrize("memory_mib", [100, 300, 600, 2000])
def test_isolated_matches_leave_each_other_their_memory(throws: Rules, memory_mib: int) -> None:
    """Each is within its limits, and however little the box has, none is ended for another."""
    wall = ProcessWall(bubblewrap=False, memory_mib=memory_mib)
    assert ("one at a time" in wall.remark) == (memory_mib < 1024)
    try:
        outcomes = wall.play(hoarding_block(throws, 6, isolate=True))
        assert [(o.fault, o.final, len(o.moves)) for o in outcomes] == [(None, True, 40)] * 7
    finally:
        wall.close()


def test_who_holds_no_more_than_its_share_is_never_ended_for_another(throws: Rules) -> None:
    """Two hogs below their own limit, two honest policies that want 96 MiB each: 400 for all."""
    hogs = (hoarder(208, "a hog"), hoarder(208, "another"))
    honest = (hoarder(96, "honest"), hoarder(96, "honest, too"))
    pairs = [(0, 2), (1, 3)]
    wall = ProcessWall(bubblewrap=False, memory_mib=400)
    try:
        block = block_of(throws, (*hogs, *honest), pairs, isolate=False)
        outcomes = wall.play(block)
    finally:
        wall.close()
    faults = {(number, o.fault.seat) for number, o in enumerate(outcomes) if o.fault}
    assert faults, "it was too much for the box"
    assert faults <= {(0, 0), (1, 0)}, "only hogs are ended"


@pytest.mark.parametrize(
    ("source", "limit", "kind"),
    [
        ("while True:\n    pass\n" + PLAIN, SHORT.load_seconds, FaultKind.LOAD_FAILED),
        (
            PLAIN.replace("return", "while True: pass #"),
            SHORT.act_seconds,
            FaultKind.TIMED_OUT,
        ),
    ],
    ids=["loading", "a call"],
)
def test_who_loops_beside_others_who_loop_has_no_more_than_its_limit(
    throws: Rules, source: str, limit: float, kind: FaultKind
) -> None:
    """All of them compute while one is waited for; the sixth had six times its limit once."""
    sources = (*(source + f"# {number}\n" for number in range(6)), PLAIN)
    wall = ProcessWall(bubblewrap=False, memory_mib=4096)
    try:
        block = block_of(throws, sources, [(number, 6) for number in range(6)], isolate=True)
        outcomes = wall.play(replace(block, limits=SHORT))
    finally:
        wall.close()
    assert [outcome.fault and outcome.fault.kind for outcome in outcomes] == [kind] * 6
    # Who waited for it last looks every 50 ms, and its workers share a core.
    assert sum(outcome.cpu_seconds[0] for outcome in outcomes) < 6 * 2 * limit


def test_the_largest_go_first_and_only_above_an_even_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = [10, 90, 200, 55, 45]
    workers = [_FakeWorker(number) for number in range(len(held))]
    monkeypatch.setattr(box_memory, "resident_bytes", lambda pid: held[pid] << 20)
    found = BoxMemory(250).excess(workers)  # type: ignore[arg-type]
    assert [worker.pid for worker, _ in found] == [2]
    assert "200 MiB; an even share is 50 MiB" in found[0][1]
    assert [worker.pid for worker, _ in BoxMemory(150).excess(workers)] == [2, 1]  # type: ignore[arg-type]
    assert not BoxMemory(400).excess(workers)  # type: ignore[arg-type]
    assert not BoxMemory(None).excess(workers)  # type: ignore[arg-type]


class _FakeWorker:
    def __init__(self, pid: int) -> None:
        self.pid, self.gone, self.verdict, self.resident_before = pid, False, None, 0


@given(st.lists(st.integers(0, 300), min_size=1, max_size=12), st.integers(1, 1000))
def test_nobody_below_the_share_of_all_is_ended(held: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box_memory, "resident_bytes", lambda pid: held[pid] << 20)
        workers = [_FakeWorker(number) for number in range(len(held))]
        found = {worker.pid for worker, _ in BoxMemory(most).excess(workers)}  # type: ignore[arg-type]
    assert all(held[pid] > most / len(held) for pid in found)
    assert sum(size for pid, size in enumerate(held) if pid not in found) <= most


def test_workers_are_reserved_for() -> None:
    assert BoxMemory(4096).workers_at_once(512, 16) == 8
    assert BoxMemory(600).workers_at_once(512, 16) == 2
    assert BoxMemory(100).workers_at_once(512, 16) == 2
    assert BoxMemory(100_000).workers_at_once(512, 16) == 16
    assert BoxMemory(None).workers_at_once(512, 16) == 16


def test_a_boxs_memory_is_within_bounds() -> None:
    assert LEAST_MIB <= memory_for_a_box() <= MOST_MIB
    assert available_mib() > 0


@pytest.mark.parametrize(("cores", "share"), [(1, 2000), (2, 2000), (4, 1000), (64, LEAST_MIB)])
def test_boxes_side_by_side_do_not_reserve_the_same_memory(
    monkeypatch: pytest.MonkeyPatch, cores: int, share: int
) -> None:
    monkeypatch.setattr("sandbox.memory.available_mib", lambda: 4000)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert memory_for_a_box() == share


def test_a_box_that_only_says_that_it_lives_is_given_up(
    throws: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"""
import sys, time
sys.path.insert(0, {str(BOX_FOLDER.parent)!r})
from box import frames
frames.write_frame(1, frames.Kind.READY, frames.document({{"version": frames.VERSION}}))
while True:
    frames.write_frame(1, frames.Kind.ALIVE, b"")
    time.sleep(0.05)
"""
    monkeypatch.setattr("sandbox.link.longest_block", lambda block: 0.5)
    link = BoxLink([sys.executable, "-c", script], "lively")
    match = BlockMatch(1, (SeatPlan(0, 1), SeatPlan(0, 2)))
    with pytest.raises(SandboxUnavailable, match="did not finish"):
        link.play(Block(throws, (PLAIN,), (match,), True, ROOM))
    with pytest.raises(SandboxUnavailable, match="closed"):
        link.play(Block(throws, (PLAIN,), (match,), True, ROOM))


def test_the_deadline_is_beyond_all_limits(throws: Rules) -> None:
    for isolate in (True, False):
        block = hoarding_block(throws, 2, isolate=isolate)
        seats = 2 * len(block.matches)
        assert longest_block(block) > seats * (ROOM.match_seconds + ROOM.match_idle_seconds)
    host = BlockMatch(1, (SeatPlan(EXTERNAL, 1), SeatPlan(EXTERNAL, 2)))
    assert longest_block(Block(throws, (), (host,), False)) == 60


def test_an_error_of_the_hosts_seats_closes_the_box(throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False)

    def answer(messages: bytes) -> bytes:
        raise SandboxUnavailable("another box")

    match = BlockMatch(1, (SeatPlan(0, 1), SeatPlan(EXTERNAL, 2)))
    with pytest.raises(SandboxUnavailable, match="another box"):
        wall.play(Block(throws, (PLAIN,), (match,), True, ROOM), answer)
    with pytest.raises(SandboxUnavailable, match="closed"):
        wall.play(Block(throws, (PLAIN,), (match,), True, ROOM), lambda messages: bytes(1))
    wall.close()


def test_a_box_whose_killed_workers_do_not_end_falls_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch_module, "LAST_WORDS_SECONDS", 0.2)
    pulses: list[float] = []
    watch = Watch(lambda: pulses.append(time.monotonic()), BoxMemory(None))
    left, right = socket.socketpair()
    worker = Worker(Zygote(-1, left, 0), (0,), 600.0)
    try:
        limits = BoxLimits(1 << 16, 1.0, 600.0, 600.0, 600.0, 256, 2000)
        watch.guard([worker], limits, charged=True)
        watch.waiting = worker.due
        _wait_for_pulse(pulses)
        worker.verdict = WorkerFault(OUT_OF_MEMORY, "killed, but it hangs")
        deadline = time.monotonic() + 20
        while time.monotonic() - pulses[-1] < 1.0:
            assert time.monotonic() < deadline, "it went on speaking"
            time.sleep(0.05)
    finally:
        watch.waiting = None
        watch.guard((), None, charged=False)
        worker.close()
        left.close()
        right.close()


def _wait_for_pulse(pulses: list[float]) -> None:
    deadline = time.monotonic() + 20
    while len(pulses) < 2:
        assert time.monotonic() < deadline, "it never spoke"
        time.sleep(0.02)
