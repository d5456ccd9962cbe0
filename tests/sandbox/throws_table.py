"""A table for tests: matches of 20 throws; whoever plays REACHED has broken out.

Obeys the contract of game tables: standard library only, sent into the box as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LENGTH = 20
MESSAGE_BYTES = 1
ACTIONS = ("ROCK", "PAPER", "SCISSORS", "REACHED")
FIRST, IDLE, NONE, MALFORMED, ILLEGAL, FIRST_FAULT = 255, 254, 253, 252, 251, 240


class Seat:
    """Calls `act({"last": the opponent's last action or None})`."""

    def __init__(self, policy: Any) -> None:
        self._act = policy.act
        self._type = type
        self._numbers = {name: number for number, name in enumerate(ACTIONS)}

    def reply(self, message: bytes) -> int:
        last = None if message[0] == FIRST else ACTIONS[message[0]]
        answer = self._act({"last": last})
        if self._type(answer) is not str:
            return MALFORMED
        return self._numbers.get(answer, ILLEGAL)


class Table:
    """Matches of 20 throws."""

    def __init__(self, deal_seeds: Sequence[int]) -> None:
        self._moves = [bytearray() for _ in deal_seeds]
        self._faults: dict[int, tuple[int, int]] = {}
        self._throw = 0

    def messages(self) -> bytes:
        parts = []
        for match, moves in enumerate(self._moves):
            if match in self._faults:
                parts.append(bytes((IDLE, IDLE)))
            elif moves:
                parts.append(bytes((moves[-1], moves[-2])))
            else:
                parts.append(bytes((FIRST, FIRST)))
        return b"".join(parts)

    def advance(self, replies: bytes) -> None:
        self._throw += 1
        for match, moves in enumerate(self._moves):
            if match in self._faults:
                continue
            pair = replies[2 * match : 2 * match + 2]
            wrong = [seat for seat in (0, 1) if pair[seat] >= len(ACTIONS)]
            if wrong:
                code = pair[wrong[0]]
                known = FIRST_FAULT <= code <= MALFORMED
                self._faults[match] = (wrong[0], code if known else ILLEGAL)
            else:
                moves += pair

    @property
    def done(self) -> bool:
        return self._throw == LENGTH or len(self._faults) == len(self._moves)

    def moves(self, match: int) -> bytes:
        return bytes(self._moves[match])

    def fault(self, match: int) -> tuple[int, int] | None:
        return self._faults.get(match)
