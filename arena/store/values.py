"""What the store answers with."""

from __future__ import annotations

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
      seconds: wall-clock time, to the microsecond.
      played_at: when it was stored, in UTC.
    """

    match: Match
    return_low: float
    termination: Termination
    fault_seat: int | None
    fault_message: str
    wall: str
    seconds: float
    played_at: datetime

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


@dataclass(frozen=True, slots=True)
class GameCount:
    """How much of one version of a game is stored.

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
    """Which repetitions below a bound are stored, for many pairs at once.

    A pair that is not listed has none.  Repetition r of the k-th listed pair is stored exactly if
    `r < prefix[k]` or r is in `scattered` for that pair.

    Attributes:
      digests: of the policies, sorted.
      low: (k,) int32, index of the smaller digest of each pair that has stored matches.
      high: (k,) int32, index of the larger.
      prefix: (k,) int32, number of repetitions from 0 on without a gap.
      scattered: (low, high) to the repetitions stored beyond the first gap; few pairs have any.
    """

    digests: tuple[str, ...]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    prefix: NDArray[np.int32]
    scattered: Mapping[tuple[int, int], frozenset[int]]
