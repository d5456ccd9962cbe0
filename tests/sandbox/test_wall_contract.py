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
    Rules,
    SeatPlan,
)
from sandbox.wall import Wall
from tests.sandbox.short_matches import ECHO, RANDOM, ROOM, match, play, play_against_echo

GAMES = Path(__file__).parents[2] / "arena" / "games"

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
        (alone,) = wall.play(Block(throws, HONEST, (match(number, *pair),), True, ROOM))
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
        first, again, different = wall.play(Block(throws, (source,), matches, False, ROOM))
        assert first.moves == again.moves
        assert first.moves != different.moves


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
        large = np.ones(70_000)  # so large that numpy uses its memory again
        assert ((large + large) * large + large).sum() == 210_000
        return "ROCK"
"""
    assert play_against_echo(wall, throws, source, replace(ROOM, memory_mib=512)).fault is None


def test_external_seats_are_played_by_the_host(wall: Wall, throws: Rules) -> None:
    pairs = [(EXTERNAL, 0), (0, 0), (0, EXTERNAL), *[(EXTERNAL, 0)] * 20]
    matches = tuple(match(number, *pair) for number, pair in enumerate(pairs))
    for isolate in (True, False):
        seen: list[bytes] = []

        def answer(messages: bytes, seen: list[bytes] = seen) -> bytes:
            seen.append(messages)
            assert len(messages) == 22
            return bytes(253 if message == 254 else 2 for message in messages)

        outcomes = wall.play(Block(throws, (ECHO,), matches, isolate, ROOM), answer)
        assert all(outcome.fault is None for outcome in outcomes)
        assert outcomes[0].moves == bytes((2, 0)) + bytes((2, 2)) * 19
        assert outcomes[2].moves == bytes((0, 2)) + bytes((2, 2)) * 19
        assert outcomes[1].moves == bytes(40)
        assert outcomes[-1].moves == outcomes[0].moves
        assert all(outcome.cpu_seconds[0] == 0.0 for outcome in outcomes[3:])


def test_a_block_may_be_external_alone(wall: Wall, throws: Rules) -> None:
    block = Block(throws, (), (match(0, EXTERNAL, EXTERNAL),), False, ROOM)
    (outcome,) = wall.play(block, lambda messages: bytes((1, 2)))
    assert outcome.moves == bytes((1, 2)) * 20


def test_the_hosts_own_error_passes_through(walls: object, throws: Rules) -> None:
    wall = ProcessWall(bubblewrap=False)

    def answer(messages: bytes) -> bytes:
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        wall.play(Block(throws, (ECHO,), (match(0, 0, EXTERNAL),), True, ROOM), answer)
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
    busy = "class Probe:\n def act(self, seen):\n  sum(range(4_000_000)); return 'ROCK'"
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
