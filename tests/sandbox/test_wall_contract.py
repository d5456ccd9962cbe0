"""What the arena may expect of every wall."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.errors import SandboxUnavailable
from sandbox.process import ProcessWall
from sandbox.values import (
    EXTERNAL,
    Block,
    BlockMatch,
    FaultKind,
    Limits,
    Outcome,
    Rules,
    SeatPlan,
)
from sandbox.wall import Wall

SHORT = Limits(
    act_seconds=0.2, match_seconds=1.0, match_wall_seconds=1.0, load_seconds=0.5, memory_mib=256
)
GAMES = Path(__file__).parents[2] / "arena" / "games"

RANDOM = """
import random
class Probe:
    def act(self, seen):
        return random.choice(("ROCK", "PAPER", "SCISSORS"))
"""
NUMPY = """
import numpy as np
from numpy.random import default_rng
class Probe:
    def __init__(self):
        self.own = default_rng()
    def act(self, seen):
        number = np.random.randint(0, 1000) + int(self.own.integers(0, 1000))
        return ("ROCK", "PAPER", "SCISSORS")[number % 3]
"""
UNSEEDED = """
import random
class Probe:
    def __init__(self):
        random.seed()
        self.own = random.Random()
        self.system = random.SystemRandom()
    def act(self, seen):
        number = random.randrange(9) + self.own.randrange(9) + self.system.randrange(9)
        return ("ROCK", "PAPER", "SCISSORS")[number % 3]
"""
MEMORY = """
import collections, dataclasses, enum, typing
counts = collections.Counter()
@dataclasses.dataclass
class State:
    history: "list[str]" = dataclasses.field(default_factory=list)
class Move(enum.Enum):
    ROCK = 0
    PAPER = 1
    SCISSORS = 2
class Probe:
    shared = []
    def __init__(self):
        self.state = State()
    def act(self, seen):
        last = seen["last"]
        if last:
            counts[last] += 1
            self.state.history.append(last)
            Probe.shared.append(last)
        if not counts:
            return "PAPER"
        number = Move[counts.most_common(1)[0][0]].value + len(Probe.shared) + hash("x")
        return Move(number % 3).name
"""
ECHO = """
class Probe:
    def act(self, seen):
        return seen["last"] or "ROCK"
"""
TIMED = """
import datetime, time
from time import perf_counter
class Probe:
    def act(self, seen):
        start, steps = perf_counter(), 0
        while perf_counter() - start < 0.02:
            steps += 1
        time.sleep(0.3)
        steps += int(1000 * time.time()) + datetime.datetime.now().microsecond // 1000
        return ("ROCK", "PAPER", "SCISSORS")[steps % 3]
"""
HONEST = (RANDOM, NUMPY, UNSEEDED, MEMORY, ECHO, TIMED)


def match(number: int, first: int, second: int) -> BlockMatch:
    return BlockMatch(number, (SeatPlan(first, 10_000 + number), SeatPlan(second, 20_000 + number)))


def play(
    wall: Wall,
    rules: Rules,
    programs: tuple[str, ...],
    pairs: list[tuple[int, int]],
    *,
    isolate: bool = True,
    limits: Limits = SHORT,
) -> tuple[Outcome, ...]:
    matches = tuple(match(number, *pair) for number, pair in enumerate(pairs))
    return wall.play(Block(rules, programs, matches, isolate, limits))


def play_against_echo(wall: Wall, rules: Rules, source: str, limits: Limits = SHORT) -> Outcome:
    (outcome,) = play(wall, rules, (source, ECHO), [(0, 1)], limits=limits)
    return outcome


def test_the_name_says_which_wall_it_is(wall: Wall) -> None:
    assert wall.name.split("/")[0] in {"process", "gvisor", "gvisor-rootless"}


def test_lockstep_and_isolated_play_are_the_same(wall: Wall, throws: Rules) -> None:
    pairs = [(one, other) for one in range(len(HONEST)) for other in range(len(HONEST))]
    apart = play(wall, throws, HONEST, pairs)
    together = play(wall, throws, HONEST, pairs, isolate=False)
    assert [outcome.fault for outcome in (*apart, *together)] == [None] * 2 * len(pairs)
    assert [outcome.moves for outcome in together] == [outcome.moves for outcome in apart]
    assert all(len(outcome.moves) == 40 for outcome in apart)


def test_walls_play_the_same(wall: Wall, walls: object, throws: Rules) -> None:
    pairs = [(0, 1), (2, 3), (3, 3), (4, 0), (5, 0)]
    here = play(wall, throws, HONEST, pairs)
    there = play(walls.get("process-plain"), throws, HONEST, pairs)  # type: ignore[attr-defined]
    assert [outcome.moves for outcome in here] == [outcome.moves for outcome in there]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9))
def test_company_changes_nothing(
    walls: object, throws: Rules, pairs: list[tuple[int, int]]
) -> None:
    wall = walls.get("process-plain")  # type: ignore[attr-defined]
    together = play(wall, throws, HONEST, pairs, isolate=False)
    for number, pair in enumerate(pairs):
        (alone,) = wall.play(Block(throws, HONEST, (match(number, *pair),), True, SHORT))
        assert alone.moves == together[number].moves


def test_random_is_the_seeds(wall: Wall, throws: Rules) -> None:
    (outcome,) = play(wall, throws, (RANDOM, ECHO), [(0, 1)])
    stream = random.Random(10_000)
    assert list(outcome.moves[0::2]) == [
        ("ROCK", "PAPER", "SCISSORS").index(stream.choice(("ROCK", "PAPER", "SCISSORS")))
        for _ in range(20)
    ]


def test_seeds_decide(wall: Wall, throws: Rules) -> None:
    seeds = ((1, 2), (1, 2), (3, 4))
    for source in (RANDOM, NUMPY, UNSEEDED):
        matches = tuple(
            BlockMatch(0, (SeatPlan(0, one), SeatPlan(0, other))) for one, other in seeds
        )
        first, again, different = wall.play(Block(throws, (source,), matches, False, SHORT))
        assert first.moves == again.moves
        assert first.moves != different.moves


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
    "loops": ("class Probe:\n def act(self, seen):\n  while 1: pass", FaultKind.TIMED_OUT, "0.2 s"),
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


@pytest.mark.parametrize("name", FAULTS)
def test_faults(wall: Wall, throws: Rules, name: str) -> None:
    source, kind, text = FAULTS[name]
    outcome = play_against_echo(wall, throws, source)
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
    programs = (source, RANDOM, ECHO)
    outcomes = play(wall, throws, programs, [(0, 1), (1, 2), (2, 0), (1, 1)], isolate=False)
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
    outcome = play_against_echo(wall, throws, bomb)
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
    assert len(fault.message) <= SHORT.message_chars
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


def test_what_policies_print_goes_nowhere(wall: Wall, throws: Rules) -> None:
    source = "class Probe:\n def act(self, seen):\n  print(seen, flush=True); return 'ROCK'"
    assert play_against_echo(wall, throws, source).fault is None


def test_standard_library_and_numpy_work_behind_the_seal(wall: Wall, throws: Rules) -> None:
    source = """
import calendar, copy, datetime, decimal, difflib, fractions, functools, hashlib, heapq, json
import math, pprint, re, statistics, string, time, typing, unicodedata, zlib
import numpy as np
import numpy.linalg
class Pair(typing.NamedTuple):
    left: int
    right: int
class Probe:
    def act(self, seen):
        assert datetime.datetime.strptime("2026-01-02", "%Y-%m-%d").month == 1
        assert time.strptime("2026", "%Y").tm_year == 2026
        assert copy.deepcopy(Pair(1, [2])) == (1, [2])
        assert json.loads(json.dumps({"a": [1.5]})) == {"a": [1.5]}
        assert hashlib.sha256(b"x").hexdigest() and zlib.crc32(b"x")
        assert statistics.NormalDist(0, 1).cdf(0) == 0.5
        assert decimal.Decimal("1.1") + 1 and fractions.Fraction(1, 3)
        assert "é".encode("latin-1") and "é".encode("utf-16") and unicodedata.name("é")
        a = np.eye(60) * 2
        assert np.allclose(a @ np.linalg.inv(a), np.eye(60))
        assert abs(np.linalg.svd(np.ones((20, 20)))[1][0] - 20) < 1e-6
        assert np.fft.fft(np.arange(8)).shape == (8,)
        assert np.polyfit([0, 1, 2], [1, 3, 5], 1).round(6).tolist() == [2, 1]
        assert np.random.default_rng(3).choice(5) >= 0
        return "ROCK"
"""
    assert play_against_echo(wall, throws, source, replace(SHORT, memory_mib=512)).fault is None


def test_external_seats_are_played_by_the_host(wall: Wall, throws: Rules) -> None:
    pairs = [(EXTERNAL, 0), (0, 0), (0, EXTERNAL), *[(EXTERNAL, 0)] * 20]
    matches = tuple(match(number, *pair) for number, pair in enumerate(pairs))
    for isolate in (True, False):
        seen: list[bytes] = []

        def answer(messages: bytes, seen: list[bytes] = seen) -> bytes:
            seen.append(messages)
            assert len(messages) == 22
            return bytes(253 if message == 254 else 2 for message in messages)

        outcomes = wall.play(Block(throws, (ECHO,), matches, isolate, SHORT), answer)
        assert all(outcome.fault is None for outcome in outcomes)
        assert outcomes[0].moves == bytes((2, 0)) + bytes((2, 2)) * 19
        assert outcomes[2].moves == bytes((0, 2)) + bytes((2, 2)) * 19
        assert outcomes[1].moves == bytes(40)
        assert outcomes[-1].moves == outcomes[0].moves
        assert all(outcome.cpu_seconds[0] == 0.0 for outcome in outcomes[3:])


def test_a_block_may_be_external_alone(wall: Wall, throws: Rules) -> None:
    block = Block(throws, (), (match(0, EXTERNAL, EXTERNAL),), False, SHORT)
    (outcome,) = wall.play(block, lambda messages: bytes((1, 2)))
    assert outcome.moves == bytes((1, 2)) * 20


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


def test_the_hosts_own_error_passes_through(walls: object, throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False)

    def answer(messages: bytes) -> bytes:
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        wall.play(Block(throws, (ECHO,), (match(0, 0, EXTERNAL),), True, SHORT), answer)
    with pytest.raises(SandboxUnavailable):
        play_against_echo(wall, throws, ECHO)
    wall.close()


@pytest.mark.parametrize("isolate", [True, False])
def test_messages_of_many_bytes(wall: Wall, isolate: bool) -> None:
    rules = Rules(
        GAMES / "leduc" / "table.py",
        "RepeatedLeducPokerBot",
        (("act", 1), ("receive_outcome", 1), ("restart", 1)),
    )
    caller = """
class RepeatedLeducPokerBot:
    def restart(self, player_id):
        self.player_id = player_id
    def act(self, obs):
        return "CALL"
    def receive_outcome(self, obs):
        pass
"""
    gambler = (
        caller.replace("class", "import random\nclass")
        .replace('"CALL"', 'random.choice(("CALL", "CALL", "RAISE"))')
        .replace("act(self, obs):", "act(self, obs):\n        self.seen = obs")
    )
    outcomes = play(wall, rules, (caller, caller + "\n"), [(0, 1), (1, 0), (0, 0)], isolate=isolate)
    assert all(outcome.fault is None for outcome in outcomes)
    assert all(len(outcome.moves) == 400 for outcome in outcomes), "four calls a hand"
    (wild,) = play(wall, rules, (gambler, caller), [(0, 1)], isolate=isolate)
    assert wild.fault is None or wild.fault.kind is FaultKind.ILLEGAL_ACTION
    assert wild.final


def test_processor_time_is_accounted(wall: Wall, throws: Rules) -> None:
    busy = "class Probe:\n def act(self, seen):\n  sum(range(1_000_000)); return 'ROCK'"
    (outcome,) = play(wall, throws, (busy, ECHO), [(0, 1)])
    assert outcome.fault is None
    assert outcome.cpu_seconds[0] > outcome.cpu_seconds[1]


def test_an_empty_block_has_no_outcomes(wall: Wall, throws: Rules) -> None:
    assert wall.play(Block(throws, (), (), True)) == ()


def test_nonsense_is_refused_before_it_is_played(wall: Wall, throws: Rules) -> None:
    with pytest.raises(ValueError, match="program 3"):
        play(wall, throws, (ECHO,), [(0, 3)])
    with pytest.raises(ValueError, match="external"):
        play(wall, throws, (ECHO,), [(0, EXTERNAL)])
    with pytest.raises(ValueError, match="64 bits"):
        wall.play(
            Block(throws, (ECHO,), (BlockMatch(0, (SeatPlan(0, 0), SeatPlan(0, 1 << 64))),), True)
        )
    assert play_against_echo(wall, throws, RANDOM).fault is None
