"""What a certificate says, as values, and the text that they are written as."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.values import Match, Result

FORMAT = 1
"""Rises when an older arena could not check a newer certificate."""


@dataclass(frozen=True, slots=True)
class Taking:
    """A policy that takes part in a final, be it an entrant or one of the hidden population.

    Attributes:
      digest: its identity.
      kind: "python", "neural", ...
      names: references under which it takes part; of the hidden population, one.
      code_digest: of its normalised syntax tree (`arena.fingerprint`); "" where it has none.
      source: its payload; None where the certificate leaves it out.
    """

    digest: str
    kind: str
    names: tuple[str, ...]
    code_digest: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One match of a final.

    Attributes:
      match: its identity.
      deal_seed: of the cards.
      seat_seeds: of the random choices in seats 0 and 1.
      returns: of seats 0 and 1.
      termination: why it ended.
      fault_seat: who forfeited; None where nobody did.
      moves: digest of all moves (`moves_digest`).
    """

    match: Match
    deal_seed: int
    seat_seeds: tuple[int, int]
    returns: tuple[float, float]
    termination: str
    fault_seat: int | None
    moves: str

    @property
    def return_low(self) -> float:
        """Return of the policy with the smaller digest."""
        return self.returns[self.match.repetition % 2]


def moves_digest(result: Result) -> str:
    """What a certificate keeps of a match's moves: 32 hexadecimal digits (BLAKE2b, 128 bits)."""
    return hashlib.blake2b(result.moves, digest_size=16).hexdigest()


def line_text(line: Line) -> Mapping[str, Any]:
    """A line as JSON has it."""
    return {
        "id": line.match.id,
        "seats": list(line.match.seats),
        "repetition": line.match.repetition,
        "deal_seed": line.deal_seed,
        "seat_seeds": list(line.seat_seeds),
        "returns": list(line.returns),
        "termination": line.termination,
        "fault_seat": line.fault_seat,
        "moves": line.moves,
    }
