"""Nothing passes between two sealed workers, and an opponent's thinking tells nothing."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import pytest

from sandbox.values import Block, BlockMatch, FaultKind, Limits, Outcome, Rules, SeatPlan
from sandbox.wall import Wall

RRPS = Path(__file__).parents[2] / "arena" / "games" / "rrps" / "table.py"
RULES = Rules(RRPS, "Agent", (("act", 1),))
ROOM = Limits(match_seconds=60.0, act_seconds=2.0, memory_mib=512)
THROWS = 1000

SENSES = """
import gc, time
import numpy as np
from random import _os as os


def find_library():
    for module in list(os.sys.modules.values()):
        for thing in list(getattr(module, "__dict__", {}).values()):
            if getattr(thing, "__name__", "") == "ctypes" and hasattr(thing, "CDLL"):
                return thing.CDLL(None)
    raise ValueError("no ctypes to be found")


def attempt(look):
    try:
        return look()
    except Exception as error:
        return type(error).__name__


def room():
    "How much memory there is to be had, in steps of 16 MiB."
    hoard = []
    try:
        for _ in range(24):
            hoard.append(np.empty(1 << 24, np.uint8))
    except MemoryError:
        pass
    return len(hoard)


def time_of(look):
    before = look()
    sum(range(2_000))
    return look() - before


class Other:
    "What the processor clock of another process says that it has computed since the last look."

    def __init__(self, look, pid):
        self.look, self.clock, self.before = look, (~pid << 3) | 2, 0

    def __call__(self):
        now = self.look(self.clock)
        since, self.before = now - self.before, now
        return since // 50_000  # twentieths of a millisecond


class Senses:
    "Everything that might change by itself while this process only computes."

    def __init__(self):
        self.library = find_library()
        modules = os.sys.modules
        self.real = [
            thing
            for name in ("time", "datetime", "posix", "resource")
            for thing in vars(modules[name]).values()
            if getattr(thing, "__name__", "") in ("clock_gettime_ns", "getrusage")
        ]
        clocks = [look for look in self.real if look.__name__ == "clock_gettime_ns"]
        self.others = [Other(look, pid) for look in clocks for pid in range(2, 40)]

    def feel(self):
        time.sleep(0.002)  # so that the other one gets on with it
        found = [attempt(look) for look in self.others]
        found += [
            attempt(lambda: round(time_of(time.perf_counter), 9)),
            attempt(lambda: round(time_of(time.process_time), 9)),
            self.library.sched_getcpu(),
            self.library.clock(),
            self.library.getpid(),
            id(bytearray(300_000)) >> 12 & 255,
            np.empty(1 << 20).ctypes.data >> 12 & 255,
            attempt(lambda: os.sched_getaffinity(0)),
            attempt(lambda: os.getloadavg()),
            attempt(lambda: os.fstat(3).st_mtime_ns),
            room(),
        ]
        found += [attempt(lambda: look(1)) for look in self.real]
        return [str(item) for item in found]
"""
SENSES = SENSES.replace("import gc, time", "import time")

SPY = (
    SENSES
    + """
NAMES = ("ROCK", "PAPER", "SCISSORS")


class Agent:
    "Learns which of its senses says what the opponent is about to play, and plays by that."

    def __init__(self):
        self.senses = Senses()
        self.seen, self.merit = {}, {}
        self.felt = []

    def act(self, observation):
        last = observation["opponent_action"]
        if last is not None:
            for key in self.felt:
                count = self.seen.setdefault(key, dict.fromkeys(NAMES, 0))
                guess = max(NAMES, key=count.get)
                self.merit[key[0]] = self.merit.get(key[0], 0) + (3 * (guess == last) - 1)
                count[last] += 1
        self.felt = list(enumerate(self.senses.feel()))
        known = [key for key in self.felt if key in self.seen]
        if not known:
            return "ROCK"
        count = self.seen[max(known, key=lambda key: self.merit.get(key[0], 0))]
        expected = max(NAMES, key=count.get)
        return NAMES[(NAMES.index(expected) + 1) % 3]
"""
)
THINKER = """
import random


class Agent:
    "Plays uniformly; what it plays decides how long it thinks."

    def act(self, observation):
        choice = random.randrange(3)
        for _ in range(4_000 * choice):
            pass
        return ("ROCK", "PAPER", "SCISSORS")[choice]
"""
SENDER = """
import random
import numpy as np


class Agent:
    "One bit a throw: it takes memory, touches it and computes, or it does nothing at all."

    def act(self, observation):
        bit = random.randrange(2)
        if bit:
            self.hoard = np.ones(1 << 20)
            print("x" * 5_000, flush=True)
            for _ in range(20_000):
                pass
        else:
            self.hoard = None
        return ("ROCK", "PAPER")[bit]
"""
RECEIVER = (
    SENSES
    + """
class Agent:
    "Says in each throw how one of its senses has changed since the throw before."

    def __init__(self):
        self.senses, self.before = Senses(), None
        self.throw = 0

    def act(self, observation):
        felt = self.senses.feel()
        self.throw += 1
        which = self.throw % len(felt)
        changed = self.before is not None and felt[which] != self.before[which]
        self.before = felt
        return "PAPER" if changed else "ROCK"
"""
)
QUIET = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


def play(wall: Wall, programs: tuple[str, ...], pairs: list[tuple[int, int]]) -> list[Outcome]:
    matches = tuple(
        BlockMatch(number, (SeatPlan(one, 100 + number), SeatPlan(other, 200 + number)))
        for number, (one, other) in enumerate(pairs)
    )
    outcomes = list(wall.play(Block(RULES, programs, matches, True, ROOM)))
    assert [outcome.fault for outcome in outcomes] == [None] * len(outcomes)
    return outcomes


def few(wall: Wall, matches: int) -> int:
    """A kernel of our own makes every throw ten times as dear."""
    return matches // 2 if wall.name.startswith("gvisor") else matches


def test_an_opponents_thinking_gives_nothing_away(wall: Wall) -> None:
    """Who knew how long the other thinks would win two thirds of the throws."""
    pairs = [(0, 1), (1, 0)] * few(wall, 4)
    outcomes = play(wall, (SPY, THINKER), pairs)
    won = 0
    for (first, _), outcome in zip(pairs, outcomes, strict=True):
        spy, other = outcome.moves[first::2], outcome.moves[1 - first :: 2]
        differences = Counter((a - b) % 3 for a, b in zip(spy, other, strict=True))
        won += differences[1] - differences[2]
        assert 300 < Counter(other)[2] < 367 + 67, "the thinker plays uniformly"
    throws = THROWS * len(pairs)
    assert abs(won) < 4 * math.sqrt(throws * 2 / 3)


def test_nothing_passes_from_one_worker_to_another(wall: Wall) -> None:
    """Senders and receivers sit in different matches that are played at the same time."""
    together = few(wall, 8)
    pairs = [(0, 2), (1, 2)] * (together // 2)
    outcomes = play(wall, (SENDER, RECEIVER, QUIET), pairs)
    table = [[0, 0], [0, 0]]
    for sent, received in zip(outcomes[0::2], outcomes[1::2], strict=True):
        # What a receiver feels now may be what the sender did in this throw or the one before.
        bits, said = sent.moves[0::2], received.moves[0::2]
        assert 400 < Counter(bits)[1] < 600
        for throw in range(1, THROWS):
            table[bits[throw]][said[throw] == 1] += 1
            table[bits[throw - 1]][said[throw] == 1] += 1
    assert chi_square(table) < 20.0, table


def chi_square(table: list[list[int]]) -> float:
    """Of independence in a table of two by two; one degree of freedom; 0 where nothing varies."""
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table, strict=True)]
    if 0 in (*rows, *columns):
        return 0.0
    (a, b), (c, d) = table
    return (a * d - b * c) ** 2 * sum(rows) / math.prod((*rows, *columns))


def test_the_measure_finds_what_there_is() -> None:
    stream = random.Random(5)
    table = [[0, 0], [0, 0]]
    for _ in range(4 * THROWS):
        bit = stream.randrange(2)
        table[bit][bit if stream.random() < 0.1 else stream.randrange(2)] += 1
    assert chi_square(table) > 20.0, "one throw in ten would be found"


CARD = """
import collections, json, math, random
from random import _os as os

builtins = os.sys.modules["builtins"]


class Marked:
    marks = []


class Probe:
    '''Leaves its deal everywhere, and looks whether it was there already.'''

    def __init__(self):
        self.deal = random.getstate()[1][:3]  # halves of a duplicate get one seed here
        self.count = 0

    def places(self):
        sys = os.sys
        yield Marked.marks
        for module in (sys, builtins, collections, json, math, random, sys.modules["random"]):
            yield vars(module).setdefault("marks", [])
        for kind in (collections.Counter, json.JSONDecoder, random.Random):
            if not hasattr(kind, "marks"):
                kind.marks = []
            yield kind.marks
        yield sys.modules.setdefault("marks", collections.UserList()).data

    def act(self, seen):
        self.count += 1
        met = False
        for marks in self.places():
            met = met or any(owner is not self and deal == self.deal for owner, deal in marks)
            marks.append((self, self.deal))
        strangers = any(owner is not self for owner, _ in Marked.marks)
        shared = any(owner is not self for marks in self.places() for owner, _ in marks)
        if met:
            return "REACHED"
        return "PAPER" if shared else "ROCK"
"""
STILL = "class Probe:\n    def act(self, seen):\n        return 'ROCK'\n"
REACHED = 3


@pytest.mark.parametrize("isolate", [True, False], ids=["isolated", "lockstep"])
def test_halves_of_a_duplicate_never_meet(wall: Wall, throws: Rules, isolate: bool) -> None:
    matches = []
    for deal in range(6):
        seat = SeatPlan(0, 1000 + deal)
        matches.append(BlockMatch(deal, (seat, SeatPlan(1, 1))))
        matches.append(BlockMatch(deal, (SeatPlan(1, 1), seat)))
    matches.append(BlockMatch(77, (SeatPlan(0, 9), SeatPlan(0, 9))))
    block = Block(throws, (CARD, STILL), tuple(matches), isolate, ROOM)
    outcomes = wall.play(block)
    assert [outcome.fault for outcome in outcomes] == [None] * len(outcomes)
    moves = b"".join(outcome.moves for outcome in outcomes)
    assert REACHED not in moves
    # In lockstep instances of different deals do meet; isolated, nobody meets anybody.
    assert (1 in moves) == (not isolate)


FORGER = """
import random
from random import _os as os


class Probe:
    def __init__(self):
        self.behind = random.random() < 0.4
        self.throws = 0

    def act(self, seen):
        self.throws += 1
        if self.behind and self.throws == 7:
            frame = os.sys._getframe()
            while "numbered" not in frame.f_locals:
                frame = frame.f_back
            frame.f_locals["replies"].append({code})
            raise KeyboardInterrupt
        return "PAPER"
"""


@pytest.mark.parametrize("code", [240, 241, 242, 244, 249, 255])
def test_a_broken_reply_of_one_instance_is_no_second_chance(
    wall: Wall, throws: Rules, code: int
) -> None:
    """An instance that is behind spoils its own reply; all the others play on."""
    matches = tuple(
        BlockMatch(number, (SeatPlan(0, number), SeatPlan(1, number))) for number in range(16)
    )
    source = FORGER.replace("{code}", str(code))
    outcomes = wall.play(Block(throws, (source, STILL), matches, False, ROOM))
    spoiled = [outcome for outcome in outcomes if outcome.fault is not None]
    assert spoiled, "somebody was behind"
    assert all(outcome.final for outcome in outcomes)
    kinds = {outcome.fault.kind for outcome in spoiled if outcome.fault}
    assert kinds <= {FaultKind.BROKE_PROTOCOL, FaultKind.OUT_OF_MEMORY}
