"""Matches of 20 throws under short limits, and two policies that play them."""

from __future__ import annotations

from sandbox.values import Block, BlockMatch, Limits, Outcome, Rules, SeatPlan
from sandbox.wall import Wall

SHORT = Limits(
    act_seconds=0.2, match_seconds=1.0, match_wall_seconds=1.0, load_seconds=0.5, memory_mib=256
)


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
    limits: Limits = SHORT,
) -> tuple[Outcome, ...]:
    matches = tuple(match(number, *pair) for number, pair in enumerate(pairs))
    return wall.play(Block(rules, programs, matches, isolate, limits))


def play_against_echo(wall: Wall, rules: Rules, source: str, limits: Limits = SHORT) -> Outcome:
    (outcome,) = play(wall, rules, (source, ECHO), [(0, 1)], limits=limits)
    return outcome
