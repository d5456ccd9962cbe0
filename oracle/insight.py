"""What a writer is told beside a score: where it came from, what was tried, what can be had.

Whoever plays the matches knows more than their mean (`Insight`, an attribute of the function that
scores programs, if it has one).  What a draft is told of it depends only on what was tried before
it, so a run that is resumed asks the same questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from oracle.values import Score

if TYPE_CHECKING:
    from arena.analysis.stationary import Ceiling


MOST_TRACED = 5
"""Opponents of one program that traces are told of."""
INCUMBENT = "incumbent"
"""Key of the program that a search began with; it is no attempt."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a program won in one situation.

    Attributes:
      label: of the situation.
      share: of all throws or hands that were played in it.
      mean: per match, in the game's unit; those of all situations of a kind add up to the return.
    """

    label: str
    share: float
    mean: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a program's return against one opponent came from.

    Attributes:
      digest: of the opponent.
      matches: that this was taken from.
      gains: kind of situation to its situations.
      choices: the opponent's, by what it saw, commonest first: (situation, what it did).
      costliest: throws or hands in which the program lost most, in a line each.
      own: the program's choices, told like the opponent's.
    """

    digest: str
    matches: int
    gains: tuple[tuple[str, tuple[Gain, ...]], ...]
    choices: tuple[tuple[str, str], ...]
    costliest: tuple[str, ...]
    own: tuple[tuple[str, str], ...] = ()


class Insight(Protocol):
    """What is known of the matches of one task."""

    def traces(self, source: str, score: Score) -> tuple[Trace, ...]:
        """Where a scored program's return came from, its `MOST_TRACED` heaviest opponents first."""
        ...

    def ceiling(self, tried: Sequence[tuple[str, Score]]) -> Ceiling | None:
        """The most that can be won from the mixture, from the matches of these programs.

        None where nobody can tell.
        """
        ...

    def idea(self, source: str) -> str:
        """A program's idea in its author's words; "" where it says none."""
        ...


@dataclass(frozen=True, slots=True)
class Tried:
    """One earlier attempt of the task, or the program that it began with.

    Attributes:
      key: of its draft.
      source: the program, "" where there is none.
      score: None where it failed.
      idea: in its author's words.
      refused: why it failed, "" where it did not.
    """

    key: str
    source: str
    score: Score | None
    idea: str
    refused: str


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest scored program of a line of search but the one that a draft starts from.

    Attributes:
      attempt: that became it, or the program that the search began with.
      traces: where its return came from.
    """

    attempt: Tried
    traces: tuple[Trace, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What a draft is told beside its program's score.

    Attributes:
      traces: of the program that it starts from.
      ceiling: see `Insight.ceiling`.
      tried: everything before it in its line of search (of an island, where there are islands), in
        order; what that began with, and visitors, included.
      latest: of these, the latest that was scored and is another program; None where there is none.
    """

    traces: tuple[Trace, ...] = ()
    ceiling: Ceiling | None = None
    tried: tuple[Tried, ...] = ()
    latest: Latest | None = None

    @property
    def best(self) -> Tried | None:
        """The attempt that returned most, the first of equals; those that races gave up go last."""
        ranked = [(not one.score.stopped, one.score.u, one) for one in self.tried if one.score]
        return max(ranked, key=lambda three: three[:2])[2] if ranked else None

    def attempt(self, key: str) -> Tried | None:
        """The attempt of that key."""
        return next((one for one in self.tried if one.key == key), None)


def insight_of(evaluate: object) -> Insight | None:
    """What whoever scores programs can tell beside their scores; None for nothing."""
    found: Insight | None = getattr(evaluate, "insight", None)
    return found
