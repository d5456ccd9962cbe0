"""What a box as a whole may take: memory of all policies together, and time for a block."""

from __future__ import annotations

import sys
import time

import pytest

from sandbox.box import watch as watch_module
from sandbox.box.allowance import Allowance, WorkerFault
from sandbox.box.budget import Budget
from sandbox.box.crew import Worker
from sandbox.box.frames import OUT_OF_MEMORY
from sandbox.box.watch import Watch
from sandbox.errors import SandboxUnavailable
from sandbox.link import BOX_FOLDER, BoxLink
from sandbox.memory import LEAST_MIB, MOST_MIB, available_mib, memory_for_a_box
from sandbox.patience import longest_block
from sandbox.process import ProcessWall, usable_bubblewrap
from sandbox.values import EXTERNAL, Block, BlockMatch, FaultKind, Limits, Rules, SeatPlan

ROOM = Limits(act_seconds=2.0, match_seconds=10.0, match_wall_seconds=20.0, memory_mib=256)
HOARDER = """
import time
class Probe:
    def __init__(self):
        self.hoard = []
    def act(self, seen):
        if len(self.hoard) < 10:
            self.hoard.append(b"x" * (16 << 20))
        else:
            time.sleep(0.06)
        return "ROCK"
"""
PLAIN = "class Probe:\n    def act(self, seen):\n        return 'PAPER'\n"
BUBBLEWRAP = [False] if usable_bubblewrap() is None else [False, True]
HOARDERS = 8
BUDGET_MIB = 300
"""Holds one hoarder's 160 MiB, and not two."""


def hoarding_block(rules: Rules, hoarders: int, *, isolate: bool) -> Block:
    """Each hoarder meets an honest policy of its own; the last match is an honest pair."""
    sources = tuple(f"{HOARDER}# {number}\n" for number in range(hoarders))
    honest = hoarders
    pairs = [*((number, honest) for number in range(hoarders)), (honest, honest)]
    matches = tuple(
        BlockMatch(number, (SeatPlan(one, 1), SeatPlan(other, 2)))
        for number, (one, other) in enumerate(pairs)
    )
    return Block(rules, (*sources, PLAIN), matches, isolate, ROOM)


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
        # Alone, each of them is within its limits.
        outcomes = wall.play(hoarding_block(throws, 3, isolate=True))
        assert [(o.fault, o.final, len(o.moves)) for o in outcomes] == [(None, True, 40)] * 4
    finally:
        wall.close()


def test_who_exceeds_the_budget_alone_is_out_of_memory(throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False, memory_mib=100)
    match = BlockMatch(1, (SeatPlan(0, 1), SeatPlan(1, 2)))
    try:
        (outcome,) = wall.play(Block(throws, (HOARDER, PLAIN), (match,), True, ROOM))
        assert outcome.fault is not None
        assert (outcome.fault.seat, outcome.fault.kind) == (0, FaultKind.OUT_OF_MEMORY)
        assert outcome.final
        host = BlockMatch(1, (SeatPlan(0, 1), SeatPlan(EXTERNAL, 0)))
        block = Block(throws, (HOARDER, PLAIN), (host, match, match), True, ROOM)
        outcomes = wall.play(block, lambda messages: bytes(len(messages)))
        assert [o.fault.kind for o in outcomes if o.fault] == [FaultKind.OUT_OF_MEMORY] * 3
        assert all(outcome.final for outcome in outcomes)
    finally:
        wall.close()


def test_a_boxs_memory_is_within_bounds() -> None:
    assert LEAST_MIB <= memory_for_a_box() <= MOST_MIB
    assert available_mib() > 0


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
        assert longest_block(block) > seats * (ROOM.match_seconds + ROOM.match_wall_seconds)
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
        wall.check(throws, PLAIN, ROOM)
    wall.close()


def test_a_box_whose_killed_workers_do_not_end_falls_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch_module, "LAST_WORDS_SECONDS", 0.2)
    pulses: list[float] = []
    watch = Watch(lambda: pulses.append(time.monotonic()), Budget(None))
    ours, theirs = pair()
    worker = Worker(ours, (0,))
    try:
        watch.guard([worker], Allowance(1 << 16, 1.0, 600.0, 600.0, 600.0, 256, 2000))
        watch.waiting = (worker, 600.0)
        _wait_for_pulse(pulses)
        worker.verdict = WorkerFault(OUT_OF_MEMORY, "killed, but it hangs")
        deadline = time.monotonic() + 20
        while time.monotonic() - pulses[-1] < 1.0:
            assert time.monotonic() < deadline, "it went on speaking"
            time.sleep(0.05)
    finally:
        watch.waiting = None
        watch.guard((), None)
        worker.close()
        ours.close()
        theirs.close()


def _wait_for_pulse(pulses: list[float]) -> None:
    deadline = time.monotonic() + 20
    while len(pulses) < 2:
        assert time.monotonic() < deadline, "it never spoke"
        time.sleep(0.02)
