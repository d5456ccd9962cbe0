"""The values that the arena passes around: what is to be played, and what came of it.

A match is identified by its content: game, version of its rules, the two policies and a
repetition number.  So nobody's numbers depend on who else takes part, and playing again is
recognised as playing the same match.  Its seeds follow from that identity and from a secret of
the arena (`arena.seeds`).
"""

from __future__ import annotations

import enum
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

SEED_BITS = 63
SELECTING = 1 << 20
"""From this repetition on, matches choose among candidates.

They are matches like all others.  But whoever was chosen because it did well in them would look
better by them than it is (the winner's curse), so no public statistic counts them.  Even, so that
no duplicate is on both sides.
"""
COMMON = 1 << 24
"""From this repetition on, the cards are those of one of the two policies, whoever the other is.

Candidates that meet a policy on its cards are told apart by a fraction of the matches.  These lie
above `SELECTING`: whoever chooses needs them, and no public statistic counts them.
"""
MOST_COMMON = 1 << 12
"""Matches of a pair in one series of these."""
_SERIES = 1 << 16
LOCKSTEP = "+lockstep"
"""Ending of a wall's name where the match shared its workers with other matches."""
TRUSTED = ("native", "inline")
"""Walls of matches without any sandbox: nobody's code had to be held."""


class Termination(enum.StrEnum):
    """Why a match ended.  All but `COMPLETED` are the fault of one seat, which forfeits."""

    COMPLETED = "completed"
    """The match was played to its full length."""
    LOAD_FAILED = "load-failed"
    """The policy's source raised, or took too long, while it was loaded or constructed."""
    CRASHED = "crashed"
    """The policy raised an exception."""
    ILLEGAL_ACTION = "illegal-action"
    """The policy returned an action that the rules do not allow here."""
    MALFORMED_ACTION = "malformed-action"
    """The policy returned something that is not an action at all."""
    TIMED_OUT = "timed-out"
    """The policy used up its processor time for one act or for the match."""
    STALLED = "stalled"
    """Too much time passed without the policy computing (it slept or blocked)."""
    OUT_OF_MEMORY = "out-of-memory"
    """The policy asked for more memory than it may have."""
    DIED = "died"
    """The policy's process ended or was killed (exit, signal, crash in C)."""
    BROKE_PROTOCOL = "broke-protocol"
    """The policy's process answered with something that is not a frame."""


def common(series: int, one: str, host: str) -> int:
    """The repetition with which one policy's matches on another's cards begin.

    Args:
      series: each of 65,536 has other cards, for up to `MOST_COMMON` matches of a pair.
      one: digest of a policy.
      host: digest of the one whose cards they are: all who meet it in this series have the same.
    """
    return COMMON + (2 * (series % _SERIES) + (one < host)) * MOST_COMMON


def _digest(*parts: object, size: int = 16) -> bytes:
    text = "\x1f".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


class Handed:
    """Base of values that are handed from process to process by the thousand.

    They are pickled as a call of their class, which takes less than half as long as by the names of
    their fields, as frozen dataclasses are.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        fields: Mapping[str, object] = self.__dataclass_fields__  # type: ignore[attr-defined]
        return type(self), tuple([getattr(self, name) for name in fields])


@dataclass(frozen=True, slots=True, order=True)
class Match(Handed):
    """One match to be played.  Repetitions 2k and 2k+1 share their deal with seats swapped.

    Attributes:
      game: name of the game.
      game_version: version of the game's rules.
      low: the smaller of the two policies' digests.
      high: the larger (equal to `low` only in self-play).
      repetition: 0, 1, 2, ...; see `SELECTING` and `COMMON`.
    """

    game: str
    game_version: int
    low: str
    high: str
    repetition: int

    @classmethod
    def between(cls, game: str, version: int, one: str, other: str, repetition: int) -> Match:
        """The match of two policies, given in either order."""
        low, high = sorted((one, other))
        return cls(game, version, low, high, repetition)

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return _digest(
            "match", self.game, self.game_version, self.low, self.high, self.repetition
        ).hex()

    @property
    def seats(self) -> tuple[str, str]:
        """Digests of the policies in seats 0 and 1."""
        return (self.low, self.high) if self.repetition % 2 == 0 else (self.high, self.low)

    @property
    def deal(self) -> int:
        """Number of the deal; the two halves of a duplicate have the same one."""
        return self.repetition // 2

    @property
    def dealt_from(self) -> tuple[str | int, ...]:
        """What the cards follow from: both policies or one (see `COMMON`), and numbers."""
        if self.repetition < COMMON:
            return (self.low, self.high, self.deal)
        block, number = divmod(self.repetition - COMMON, MOST_COMMON)
        series, host_is_high = divmod(block, 2)
        return (self.high if host_is_high else self.low, series, number // 2)

    @property
    def public_deal_seed(self) -> int:
        """Seed of the deal of a match of season 0, before there were secrets (63 bits)."""
        digest = _digest(
            "deal", self.game, self.game_version, self.low, self.high, self.deal, size=8
        )
        return int.from_bytes(digest) >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True)
class Result(Handed):
    """What came of a match.

    Attributes:
      match: what was played.
      season: whose secret the seeds came from; 0 for matches from before there were secrets.
      returns: of seats 0 and 1, in the game's unit; they add up to 0.
      termination: why the match ended.
      fault_seat: 0 or 1 where a seat forfeited, else None.
      fault_message: what the faulty seat did, for its author (at most 2,000 characters).
      moves: every move, one byte each, in the game's own order (see `Game`).
      wall: what stood between the policies and the host: "native" (engine only), "inline"
        (trusted policies in the arena's process), or the sandbox's wall and its version.
      seconds: elapsed time, shared evenly among matches that were played together; in a sandbox
        less what networks outside of it computed.
      cpu_seconds: processor time of the policies in seats 0 and 1, 0 where not measured.
      playings: 2 where a shared worker failed and the match was played once more by itself.
    """

    match: Match
    season: int
    returns: tuple[float, float]
    termination: Termination
    fault_seat: int | None
    fault_message: str
    moves: bytes = field(repr=False)
    wall: str
    seconds: float
    cpu_seconds: tuple[float, float] = (0.0, 0.0)
    playings: int = 1

    @property
    def return_low(self) -> float:
        """Return of the policy with the smaller digest."""
        return self.returns[self.match.repetition % 2]


@functools.lru_cache(maxsize=4096)
def short(digest: str) -> str:
    """The first 12 digits, for tables and messages."""
    return digest[:12]
