"""What a submission may cost, and how many matches that is enough for.

All seconds are those for which matches hold a processor (`arena.tally.held_seconds`).
"""

from __future__ import annotations

from dataclasses import dataclass

DEAL = 2
"""Matches of one deal: its two halves, with the seats swapped."""


@dataclass(frozen=True)
class PlayingTime:
    """What the operator allows, in seconds of a held processor.

    Attributes:
      submission: for one submission.
      day: for all submissions of one author, on one day in UTC.
    """

    submission: float = 1_800.0
    day: float = 7_200.0

    @property
    def smaller(self) -> float:
        """What one submission can use at most, on a day with nothing else."""
        return min(self.submission, self.day)


@dataclass(frozen=True, slots=True)
class Plan:
    """How many matches against everybody a budget is enough for.

    Attributes:
      match_seconds: that one match takes.
      opponents: how many.
      wanted: matches with each of them, if the budget allows.
      allowed: what there is to spend, in seconds.
    """

    match_seconds: float
    opponents: int
    wanted: int
    allowed: float

    @property
    def needed(self) -> float:
        """Seconds for everything that is wanted."""
        return self.match_seconds * self.opponents * self.wanted

    @property
    def deal(self) -> float:
        """Seconds for one deal against everybody."""
        return self.match_seconds * self.opponents * min(DEAL, self.wanted)

    @property
    def matches(self) -> int:
        """Matches with each opponent, in whole deals; 0 where not even one fits."""
        if self.needed <= self.allowed:
            return self.wanted
        return min(self.wanted, DEAL * int(self.allowed / self.deal))


def duration(seconds: float) -> str:
    """A time span in the unit that suits it: "40 µs", "18 ms", "2.5 s", "12 minutes", "1.7 h"."""
    if seconds <= 0:
        return "0 s"
    if seconds < 0.001:
        return f"{1_000_000 * seconds:.0f} µs"
    if seconds < 1.0:
        return f"{1_000 * seconds:.0f} ms"
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    if seconds < 5_400.0:
        return f"{seconds / 60:.0f} minutes"
    return f"{round(seconds / 3_600, 1):g} h"


def told(plan: Plan, step_seconds: float, step: str) -> str:
    """What is planned and why, in a sentence.

    Args:
      plan: what it is about.
      step_seconds: what a throw or hand takes.
      step: "throw" or "hand".
    """
    each = f"{plan.opponents} opponents x {plan.wanted} matches"
    speed = f"about {duration(step_seconds)} a {step}: {each} need {duration(plan.needed)}"
    if plan.matches == plan.wanted:
        return f"{speed}, of {duration(plan.allowed)} that it may use"
    return (
        f"{speed}; it may use {duration(plan.allowed)}: so {plan.matches} matches with each are "
        "played"
    )


def too_slow(plan: Plan, step_seconds: float, step: str) -> str:
    """Why nothing is played, in a sentence; for a plan without any match."""
    return (
        f"about {duration(step_seconds)} a {step}: already one deal "
        f"({min(DEAL, plan.wanted)} matches) with each of {plan.opponents} opponents needs "
        f"{duration(plan.deal)}, and a submission may use {duration(plan.allowed)}; make it faster"
    )
