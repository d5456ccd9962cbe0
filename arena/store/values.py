"""What the store answers with."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from arena.values import Match, Termination


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A stored match without its moves.

    Attributes:
      match: what was played.
      return_low: return of the policy with the smaller digest.
      termination: why it ended.
      fault_seat: 0 or 1 where a seat forfeited, else None.
      fault_message: what the faulty seat did.
      wall: what stood between the policies and the host.
      seconds: elapsed time, to the microsecond.
      played_at: when it was stored, in UTC.
      season: whose secret seeds it was played with; 0: its seeds were public.
      playings: how often it was played until it had a result.
    """

    match: Match
    return_low: float
    termination: Termination
    fault_seat: int | None
    fault_message: str
    wall: str
    seconds: float
    played_at: datetime
    season: int = 0
    playings: int = 1

    @property
    def id(self) -> str:
        """The match's id."""
        return self.match.id

    @property
    def seats(self) -> tuple[str, str]:
        """Digests of the policies in seats 0 and 1."""
        return self.match.seats

    @property
    def returns(self) -> tuple[float, float]:
        """Returns of seats 0 and 1."""
        return returns_of(self.match, self.return_low)


def returns_of(match: Match, return_low: float) -> tuple[float, float]:
    """Returns of seats 0 and 1 from the return of the policy with the smaller digest."""
    # 0.0 - x rather than -x: a draw is 0.0 for both.
    other = 0.0 - return_low
    return (return_low, other) if match.repetition % 2 == 0 else (other, return_low)


class Verdict(enum.StrEnum):
    """What came of playing a stored match again."""

    SAME = "same"
    """The same moves and the same end."""
    DIFFERENT = "different"
    """Other moves, or another end that a policy answers for."""
    INCONCLUSIVE = "inconclusive"
    """The machine's doing cut one of the two short; up to there they are the same."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A stored match, and what came when it was played again.

    Attributes:
      match: which one.
      verdict: how the two compare.
      suspect: digest of the policy that answers for the difference, where one does; of the member
        that played, where a mixture sat down.
      move: index into the record of moves of the first that differs, where one does.
      stored: what is stored there, for people (at most 2,000 characters).
      again: what came instead (likewise).
      wall: what stood between policies and host the second time.
      audited_at: when it was played again, with its time zone.
    """

    match: Match
    verdict: Verdict
    suspect: str | None
    move: int | None
    stored: str
    again: str
    wall: str
    audited_at: datetime


@dataclass(frozen=True, slots=True)
class AuditCount:
    """What came of auditing the matches of one policy; an audited match counts each time.

    An audit that names a suspect counts for the suspect only: the opponent did nothing else.

    Attributes:
      same: audits that confirmed the match.
      different: that the policy answers for, or that nobody in particular does.
      inconclusive: that say nothing.
    """

    same: int
    different: int
    inconclusive: int


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the matches of one policy were isolated from each other.

    Attributes:
      sandboxed: stored matches behind any sandbox's wall.
      shared: of them, those in workers that played other matches of the policy as well.
      do_overs: stored matches, behind any wall, that were played more than once.
    """

    sandboxed: int
    shared: int
    do_overs: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What the matches of one policy took, but for those that chose among candidates.

    Attributes:
      matches: that it played.
      forfeits: of them, by itself.
      cpu_micros: of processor time of its own in a match, on average over those in which it was
        timed alone; None where it never was.
      micros: of a match, on average; None where there is none.
    """

    matches: int
    forfeits: int
    cpu_micros: float | None
    micros: float | None


@dataclass(frozen=True, slots=True)
class GameCount:
    """How much of one version of a game is stored, but for matches that chose among candidates.

    Attributes:
      game: name of the game.
      version: of its rules.
      matches: stored matches.
      pairs: pairs of policies that met at least once.
      policies: policies that played at least once.
      forfeits: matches that ended by somebody's fault.
    """

    game: str
    version: int
    matches: int
    pairs: int
    policies: int
    forfeits: int


@dataclass(frozen=True, slots=True)
class StoredRepetitions:
    """Which of some repetitions in a row are stored, for many pairs at once.

    A pair that is not listed has none.  With r counted from the first that was asked about, r of
    the k-th listed pair is stored exactly if `r < prefix[k]` or r is in `scattered` for that pair.

    Attributes:
      digests: of the policies, sorted.
      low: (k,) int32, index of the smaller digest of each pair that has stored matches.
      high: (k,) int32, index of the larger.
      prefix: (k,) int32, number of repetitions from the first on without a gap.
      scattered: (low, high) to the repetitions stored beyond the first gap; few pairs have any.
    """

    digests: tuple[str, ...]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    prefix: NDArray[np.int32]
    scattered: Mapping[tuple[int, int], frozenset[int]]
