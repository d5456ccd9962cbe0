"""Matches of 20 throws, their limits, and two policies that play them."""

from __future__ import annotations

from sandbox.values import Block, BlockMatch, Limits, Outcome, Rules, SeatPlan
from sandbox.wall import Wall

ROOM = Limits(
    act_seconds=10.0, match_seconds=60.0, match_idle_seconds=60.0, load_seconds=20.0, memory_mib=256
)
"""For whoever is expected to keep them: behind gVisor a call can cost ten times its own time."""
SHORT = Limits(
    act_seconds=0.3, match_seconds=2.0, match_idle_seconds=1.0, load_seconds=1.0, memory_mib=256
)
"""For whoever is expected to break them, so that a test need not wait long."""

RANDOM = """
import random
class Probe:
    def act(self, seen):
        return random.choice(("ROCK", "PAPER", "SCISSORS"))
"""


ECHO = """
class Probe:
    def act(self, seen):
        return seen["last"] or "ROCK"
"""


def match(number: int, first: int, second: int) -> BlockMatch:
    return BlockMatch(number, (SeatPlan(first, 10_000 + number), SeatPlan(second, 20_000 + number)))


def play(
    wall: Wall,
    rules: Rules,
    programs: tuple[str, ...],
    pairs: list[tuple[int, int]],
    *,
    isolate: bool = True,
    limits: Limits = ROOM,
) -> tuple[Outcome, ...]:
    matches = tuple(match(number, *pair) for number, pair in enumerate(pairs))
    return wall.play(Block(rules, programs, matches, isolate, limits))


def play_against_echo(wall: Wall, rules: Rules, source: str, limits: Limits = ROOM) -> Outcome:
    (outcome,) = play(wall, rules, (source, ECHO), [(0, 1)], limits=limits)
    return outcome
