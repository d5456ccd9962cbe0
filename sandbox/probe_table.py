"""A table for trying walls out: three ticks in which both seats say HELD or REACHED.

Obeys the same contract as the games' tables (see arena/games/protocol.py): standard library
only, and no import of anything of ours, because it is sent into the box as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MESSAGE_BYTES = 1
TICKS = 3
ACTIONS = {"HELD": 0, "REACHED": 1}
IDLE, NONE, MALFORMED, ILLEGAL, FIRST_FAULT = 254, 253, 252, 251, 240


class Seat:
    """One policy at one match: `act(tick)` returns "HELD" or "REACHED"."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._type = type

    def reply(self, message: bytes) -> int:
        """The number of the policy's action, or the code of what it did wrong."""
        answer = self._policy.act(message[0])
        if self._type(answer) is not str:
            return MALFORMED
        return ACTIONS.get(answer, ILLEGAL)


class Table:
    """Matches of three ticks; seats hear the number of the tick."""

    def __init__(self, deal_seeds: Sequence[int]) -> None:
        self._tick = 0
        self._moves = [bytearray() for _ in deal_seeds]
        self._faults: dict[int, tuple[int, int]] = {}

    def messages(self) -> bytes:
        """One byte for each flat seat."""
        over = bytes((IDLE, IDLE))
        going = bytes((self._tick, self._tick))
        return b"".join(
            over if match in self._faults else going for match in range(len(self._moves))
        )

    def advance(self, replies: bytes) -> None:
        """Takes one reply for each flat seat."""
        self._tick += 1
        for match, moves in enumerate(self._moves):
            if match in self._faults:
                continue
            pair = replies[2 * match : 2 * match + 2]
            wrong = [seat for seat in (0, 1) if pair[seat] not in ACTIONS.values()]
            if wrong:
                code = pair[wrong[0]]
                known = FIRST_FAULT <= code <= MALFORMED
                self._faults[match] = (wrong[0], code if known else ILLEGAL)
            else:
                moves += pair

    @property
    def done(self) -> bool:
        """True once no match goes on."""
        return self._tick == TICKS or len(self._faults) == len(self._moves)

    def moves(self, match: int) -> bytes:
        """Both seats' actions of every complete tick."""
        return bytes(self._moves[match])

    def fault(self, match: int) -> tuple[int, int] | None:
        """(seat, code) of the forfeit, or None."""
        return self._faults.get(match)
