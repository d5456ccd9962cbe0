"""What goes into a sandbox and what comes out: sources, limits, blocks of matches, verdicts."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

EXTERNAL = -1
"""Program number of a seat that the host itself plays."""


class FaultKind(enum.StrEnum):
    """What a policy can do wrong.  The values name the arena's terminations."""

    LOAD_FAILED = "load-failed"
    CRASHED = "crashed"
    ILLEGAL_ACTION = "illegal-action"
    MALFORMED_ACTION = "malformed-action"
    TIMED_OUT = "timed-out"
    STALLED = "stalled"
    OUT_OF_MEMORY = "out-of-memory"
    DIED = "died"
    BROKE_PROTOCOL = "broke-protocol"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one policy instance may use.  Time is processor time unless a name says idle.

    Attributes:
      source_bytes: size of a policy's source.
      load_seconds: to import and construct the policy.
      act_seconds: for one call.
      match_seconds: for all calls of a match.
      match_idle_seconds: elapsed time in which one seat neither answers nor computes, in a
        match.  There is nothing to wait for behind the seal, so honest policies have none;
        time in which the machine is busy elsewhere does not count.
      memory_mib: address space of a worker that plays one match.
      message_chars: of an error message that is kept for the author.
    """

    source_bytes: int = 65_536
    load_seconds: float = 2.0
    act_seconds: float = 0.5
    match_seconds: float = 20.0
    match_idle_seconds: float = 10.0
    memory_mib: int = 512
    message_chars: int = 2_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The game as the box needs it.

    Attributes:
      table_path: the game's table module (standard library only; trusted).
      class_name: the class that a policy's source must define.
      methods: required methods with the number of arguments after self.
    """

    table_path: Path
    class_name: str
    methods: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """One seat of one match: which program sits there and the seed of its randomness.

    `program` is an index into `Block.programs`, or EXTERNAL.
    """

    program: int
    seed: int


@dataclass(frozen=True, slots=True)
class BlockMatch:
    """One match of a block: the seed of its deal and its two seats.

    Matches of one seed are halves of a duplicate: no worker ever plays two seats of them.
    """

    deal_seed: int
    seats: tuple[SeatPlan, SeatPlan]


@dataclass(frozen=True, slots=True)
class Block:
    """Matches that are played together, tick by tick.

    Attributes:
      rules: of the game, the same for all matches.
      programs: policy sources; each gets a sealed worker.
      matches: what is to be played.
      isolate: a fresh worker for every seat of every match, which is how code that nobody
        vouches for is played.  Otherwise one worker for each program plays its seats of the
        block, each instance in its own namespace with its own random streams and clock; more
        than one where the program has two seats of one deal (see `deal_seed`).
      limits: for each policy instance.
    """

    rules: Rules
    programs: tuple[str, ...]
    matches: tuple[BlockMatch, ...]
    isolate: bool = True
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Fault:
    """A forfeit: which seat (0 or 1), what it did, and the text for its author."""

    seat: int
    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one match of a block.

    Attributes:
      moves: one byte each, as the table module records them; those before the fault, if any.
      fault: None where the match was played to its end.
      cpu_seconds: processor time of both seats (an even share where a worker plays several).
      held_bytes: memory that both seats had at the end (an even share likewise), or shortly before
        they were ended for it, where they shared workers; 0 where it was not measured.
      final: False where the referee or the kernel ended a worker (for time, memory, or by
        itself) that played several matches; such a match must be played again with
        `isolate=True`, and an honest policy begins it with the same moves.  Whatever a living
        worker does wrong is final.
    """

    moves: bytes
    fault: Fault | None
    cpu_seconds: tuple[float, float]
    held_bytes: tuple[int, int] = (0, 0)
    final: bool = True


ExternalSeats = Callable[[bytes], bytes]
"""Plays the EXTERNAL seats of a block: messages in (MESSAGE_BYTES each, in flat seat order,
external seats only), one reply byte each out."""
