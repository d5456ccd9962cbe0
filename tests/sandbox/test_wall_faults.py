"""What every wall says of policies that fail, and whose fault it was."""

from __future__ import annotations

import pytest

from sandbox.values import FaultKind, Limits, Rules
from sandbox.wall import Wall
from tests.sandbox.short_matches import ECHO, RANDOM, ROOM, SHORT, play, play_against_echo

FAULTS = {
    "syntax": ("class Probe:\n  def act(self seen)\n", FaultKind.LOAD_FAILED, "line 2"),
    "no class": ("class Other: pass", FaultKind.LOAD_FAILED, "no class 'Probe'"),
    "no method": ("class Probe: pass", FaultKind.LOAD_FAILED, "no method 'act'"),
    "arguments": ("class Probe:\n def act(self): pass", FaultKind.LOAD_FAILED, "1 argument"),
    "import": ("import os", FaultKind.LOAD_FAILED, "not allowed"),
    "raises while loading": ("\n\n1 / 0", FaultKind.LOAD_FAILED, "line 3"),
    "null byte": ("x = '\0'", FaultKind.LOAD_FAILED, "null"),
    "lone surrogate": ("x = '\udcff'", FaultKind.LOAD_FAILED, "surrogate"),
    "too long": ("#" * 65_537, FaultKind.LOAD_FAILED, "65536"),
    "raises": (
        "class Probe:\n def act(self, seen):\n  return {}[7]",
        FaultKind.CRASHED,
        "KeyError: 7",
    ),
    "no action": (
        "class Probe:\n def act(self, seen): return 'rock'",
        FaultKind.ILLEGAL_ACTION,
        "",
    ),
    "no text": ("class Probe:\n def act(self, seen): return 1", FaultKind.MALFORMED_ACTION, "str"),
    "loops": ("class Probe:\n def act(self, seen):\n  while 1: pass", FaultKind.TIMED_OUT, "0.3 s"),
    "idles": (
        "from random import _os\nclass Probe:\n def act(self, seen): _os.read(3, 9)",
        FaultKind.STALLED,
        "1 s",
    ),
    "memory": (
        "class Probe:\n def act(self, seen): return bytes(1 << 33)",
        FaultKind.OUT_OF_MEMORY,
        "",
    ),
    "exits": (
        "from random import _os\nclass Probe:\n def act(self, seen): _os._exit(5)",
        FaultKind.DIED,
        "exit code 5",
    ),
    "chatters": (
        "from random import _os\nclass Probe:\n def act(self, seen): _os.write(4, bytes(99))",
        FaultKind.BROKE_PROTOCOL,
        "",
    ),
}


def limits_for(name: str) -> Limits:
    return SHORT if name in {"loops", "idles"} else ROOM


@pytest.mark.parametrize("name", FAULTS)
def test_faults(wall: Wall, throws: Rules, name: str) -> None:
    source, kind, text = FAULTS[name]
    outcome = play_against_echo(wall, throws, source, limits_for(name))
    assert outcome.fault is not None
    assert (outcome.fault.seat, outcome.fault.kind) == (0, kind)
    assert text in outcome.fault.message
    assert outcome.fault.message
    assert outcome.final
    after = play_against_echo(wall, throws, RANDOM)
    assert after.fault is None, "the next block must not notice"


def test_one_instances_fault_ends_one_match(wall: Wall, throws: Rules) -> None:
    moody = """
import random
class Probe:
    def __init__(self):
        self.bad = random.random() < 0.5
    def act(self, seen):
        if self.bad and seen["last"]:
            raise RuntimeError("moody")
        return "PAPER"
"""
    pairs = [(0, 1)] * 20
    apart = play(wall, throws, (moody, RANDOM), pairs)
    together = play(wall, throws, (moody, RANDOM), pairs, isolate=False)
    assert 0 < sum(outcome.fault is not None for outcome in together) < 20
    for one, other in zip(apart, together, strict=True):
        assert other.final
        assert (one.moves, one.fault) == (other.moves, other.fault)


@pytest.mark.parametrize("name", ["memory", "chatters"])
def test_what_a_living_worker_does_wrong_is_final_in_lockstep_too(
    wall: Wall, throws: Rules, name: str
) -> None:
    source, kind, _ = FAULTS[name]
    programs = (source, RANDOM, ECHO)
    outcomes = play(wall, throws, programs, [(0, 1), (1, 2), (2, 0), (1, 1)], isolate=False)
    assert all(outcome.final for outcome in outcomes)
    faults = [outcome.fault and (outcome.fault.seat, outcome.fault.kind) for outcome in outcomes]
    assert faults == [(0, kind), None, (1, kind), None]


def test_a_voided_match_keeps_its_moves(wall: Wall, throws: Rules) -> None:
    source = """
from random import _os
class Probe:
    def __init__(self):
        self.throws = 0
    def act(self, seen):
        self.throws += 1
        if self.throws == 12:
            _os._exit(0)
        return "PAPER"
"""
    (voided,) = play(wall, throws, (source, RANDOM), [(0, 1)], isolate=False)
    (again,) = play(wall, throws, (source, RANDOM), [(0, 1)])
    assert (voided.final, again.final) == (False, True)
    assert len(voided.moves) == 22
    assert voided.moves == again.moves


def test_a_forfeit_before_the_worker_ends_stays_final(wall: Wall, throws: Rules) -> None:
    """One instance gives up early; another, later, takes the worker along."""
    source = """
import random
from random import _os
class Probe:
    def __init__(self):
        self.early = random.random() < 0.5
        self.throws = 0
    def act(self, seen):
        self.throws += 1
        if self.early and self.throws == 3:
            raise MemoryError
        if not self.early and self.throws == 9:
            _os._exit(0)
        return "PAPER"
"""
    outcomes = play(wall, throws, (source, ECHO), [(0, 1)] * 12, isolate=False)
    ends = {(o.fault.kind, o.final, len(o.moves)) for o in outcomes if o.fault}
    assert ends == {(FaultKind.OUT_OF_MEMORY, True, 4), (FaultKind.DIED, False, 16)}


@pytest.mark.parametrize("name", ["loops", "idles", "exits"])
def test_a_workers_fault_settles_nothing_in_lockstep(wall: Wall, throws: Rules, name: str) -> None:
    source, kind, _ = FAULTS[name]
    programs, pairs = (source, RANDOM, ECHO), [(0, 1), (1, 2), (2, 0), (1, 1)]
    outcomes = play(wall, throws, programs, pairs, isolate=False, limits=limits_for(name))
    assert [outcome.final for outcome in outcomes] == [False, True, False, True]
    assert [outcome.fault is None for outcome in outcomes] == [False, True, False, True]
    assert outcomes[0].fault is not None
    assert outcomes[0].fault.kind is kind
    assert outcomes[2].fault is not None
    assert outcomes[2].fault.seat == 1


def test_compiling_is_limited(wall: Wall, throws: Rules) -> None:
    """The compiler copies a `finally` block into each way out of it; these double, 24 times."""
    depth = 24
    lines = []
    for level in range(depth):
        pad = " " * level
        lines += [f"{pad}try:", f"{pad} x = 1", f"{pad}finally:"]
    lines.append(" " * depth + "x = 2")
    bomb = "\n".join(lines) + "\nclass Probe:\n    def act(self, seen): return 'ROCK'\n"
    outcome = play_against_echo(wall, throws, bomb, SHORT)
    assert outcome.fault is not None
    assert outcome.fault.kind in (
        FaultKind.LOAD_FAILED,
        FaultKind.OUT_OF_MEMORY,
        FaultKind.TIMED_OUT,
        FaultKind.DIED,
    )
    assert outcome.final
    assert play_against_echo(wall, throws, RANDOM).fault is None


def test_texts_show_the_authors_own_lines(wall: Wall, throws: Rules) -> None:
    source = """
def helper(seen):
    return 1 // len(seen["last"] or "")

class Probe:
    def act(self, seen):
        return helper(seen)  # here
"""
    fault = play_against_echo(wall, throws, source).fault
    assert fault is not None
    assert fault.message.splitlines()[0] == "Traceback (most recent call last):"
    assert 'File "<policy>", line 7, in act' in fault.message
    assert "return helper(seen)  # here" in fault.message
    assert fault.message.endswith("ZeroDivisionError: integer division or modulo by zero")
    assert "worker" not in fault.message


def test_long_texts_are_cut_in_the_middle(wall: Wall, throws: Rules) -> None:
    source = "class Probe:\n def act(self, seen): raise ValueError('begin' + 'x' * 10_000 + 'end')"
    fault = play_against_echo(wall, throws, source).fault
    assert fault is not None
    assert len(fault.message) <= ROOM.message_chars
    assert fault.message.startswith("Traceback")
    assert "ValueError: begin" in fault.message
    assert fault.message.endswith("xend")


def test_source_may_be_in_any_script(wall: Wall, throws: Rules) -> None:
    source = """
class Probe:
    '''Ένας παίκτης · 石头剪刀布 🪨'''
    def act(self, seen):
        größe = "ROCK"
        if seen["last"]:
            raise ValueError("köszönöm 🪨")
        return größe
"""
    fault = play_against_echo(wall, throws, source).fault
    assert fault is not None
    assert "köszönöm 🪨" in fault.message


def test_an_instance_that_dies_giving_account_takes_its_worker_along(
    wall: Wall, throws: Rules
) -> None:
    source = """
import random
class Leaving(Exception):
    def __str__(self):
        random._os._exit(0)
class Probe:
    def __init__(self):
        if random.random() < 0.5:
            raise Leaving()
    def act(self, seen):
        return "ROCK"
"""
    outcomes = play(wall, throws, (source, ECHO), [(0, 1)] * 12 + [(1, 1)], isolate=False)
    kinds = {outcome.fault.kind for outcome in outcomes[:-1] if outcome.fault}
    assert kinds == {FaultKind.LOAD_FAILED, FaultKind.DIED}
    assert all(
        outcome.final == (outcome.fault is None or outcome.fault.kind is FaultKind.LOAD_FAILED)
        for outcome in outcomes
    )
    assert outcomes[-1].fault is None
