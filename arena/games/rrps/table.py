"""The table of repeated rock-paper-scissors: many matches of 1000 throws in lockstep.

Standard library only and no import from this project: a sandbox runs this very file inside its
box, next to the sealed policies.

A message is one byte: FIRST_THROW, or the opponent's last action, or IDLE once the match is
over.  A reply is one byte: an action, or a code (see the constants).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

LENGTH = 1000
"""Throws in a match."""
MESSAGE_BYTES = 1
ACTIONS = ("ROCK", "PAPER", "SCISSORS")
"""In the engine's order; an action's number is its index."""

FIRST_THROW = 255
IDLE = 254
"""First byte of a message that asks for nothing."""
NONE = 253
"""Reply to a message that asks for nothing."""
MALFORMED = 252
"""The policy answered with something that is not exactly a `str`."""
ILLEGAL = 251
"""The policy answered with a string that is no action."""
RAISED = 250
"""The policy raised; the caller puts this in, `Seat.reply` lets the exception pass."""
FIRST_FAULT_CODE = 240
"""240 to 249 are fault codes that only the caller gives a meaning."""

_ACTION_BYTES = bytes(range(len(ACTIONS)))


class Seat:
    """One policy instance at one match.

    `reply(message)` runs a thousand times a match, so it is a closure over everything that it
    needs, `type` included: what the policy does to modules later on changes nothing here.

    Args:
      policy: an object with `act(observation)`.
    """

    __slots__ = ("reply",)

    reply: Callable[[bytes], int]
    """Answers one message with an action's number, or NONE, ILLEGAL or MALFORMED."""

    def __init__(self, policy: Any) -> None:
        act = policy.act
        type_of, text = type, str
        number_of = {name: number for number, name in enumerate(ACTIONS)}.get
        seen: dict[int, str | None] = {FIRST_THROW: None, **dict(enumerate(ACTIONS))}
        idle, none, illegal, malformed = IDLE, NONE, ILLEGAL, MALFORMED
        mine: str | None = None

        def reply(message: bytes) -> int:
            nonlocal mine
            asked = message[0]
            if asked == idle:
                return none
            answer = act({"my_action": mine, "opponent_action": seen[asked]})
            if type_of(answer) is not text:  # a subclass of str could lie about equality
                return malformed
            number = number_of(answer, illegal)
            if number != illegal:
                mine = answer
            return number

        self.reply = reply


class Table:
    """Many matches, thrown in lockstep; match m owns flat seats 2m and 2m + 1.

    While nobody has forfeited, a tick is a handful of operations on whole byte strings.  After
    the first forfeit two integers as wide as the block mask out the matches that are over.

    Args:
      deal_seeds: one for each match; only their number matters, nothing here is dealt.
      length: throws in a match (shorter in tests).
    """

    def __init__(self, deal_seeds: Sequence[int], length: int = LENGTH) -> None:
        if length < 1:
            raise ValueError(f"a match has at least one throw, not {length}")
        self._matches = len(deal_seeds)
        self._seats = 2 * self._matches
        self._length = length
        self._throw = 0
        self._record = bytearray()
        self._messages = bytes([FIRST_THROW]) * self._seats
        self._faults: dict[int, tuple[int, int, int]] = {}
        """Match to (seat, code, throws completed before)."""
        self._live_mask = int.from_bytes(b"\xff" * self._seats, "little")
        self._idle_mask = 0

    def messages(self) -> bytes:
        """One byte for each flat seat."""
        return self._messages

    def advance(self, replies: bytes) -> None:
        """Takes one reply for each flat seat.

        Raises:
          ValueError: the number of replies is wrong, or every match is over.
        """
        if len(replies) != self._seats:
            raise ValueError(f"{len(replies)} replies for {self._seats} seats")
        if self.done:
            raise ValueError("every match is over; there is nothing to reply to")
        if self._faults:
            replies = self._without_finished(replies)
        if replies.translate(None, _ACTION_BYTES):  # anything left is no action
            replies = self._forfeit(replies)
        self._record += replies
        self._throw += 1
        self._messages = self._next_messages(replies)

    @property
    def done(self) -> bool:
        """True once no match goes on."""
        return self._throw == self._length or len(self._faults) == self._matches

    def moves(self, match: int) -> bytes:
        """Two bytes for each throw that was completed: the actions of seats 0 and 1."""
        fault = self._faults.get(match)
        throws = self._throw if fault is None else fault[2]
        end = throws * self._seats
        moves = bytearray(2 * throws)
        moves[0::2] = self._record[2 * match : end : self._seats]
        moves[1::2] = self._record[2 * match + 1 : end : self._seats]
        return bytes(moves)

    def fault(self, match: int) -> tuple[int, int] | None:
        """(seat, code) of the forfeit, or None."""
        fault = self._faults.get(match)
        return None if fault is None else fault[:2]

    def _without_finished(self, replies: bytes) -> bytes:
        """The replies with zeros for matches that are over, whatever those said."""
        kept = int.from_bytes(replies, "little") & self._live_mask
        return kept.to_bytes(self._seats, "little")

    def _forfeit(self, replies: bytes) -> bytes:
        """Ends the matches with a fault among their replies; seat 0 is looked at before seat 1."""
        for flat, code in enumerate(replies):
            match, seat = divmod(flat, 2)
            if code in _ACTION_BYTES or match in self._faults:
                continue
            known = FIRST_FAULT_CODE <= code <= MALFORMED
            self._faults[match] = (seat, code if known else ILLEGAL, self._throw)
            both = 0xFFFF << 16 * match
            self._live_mask &= ~both
            self._idle_mask |= both & (0x0101 * IDLE << 16 * match)
        return self._without_finished(replies)

    def _next_messages(self, replies: bytes) -> bytes:
        if self.done:
            return bytes([IDLE]) * self._seats
        swapped = bytearray(self._seats)
        swapped[0::2] = replies[1::2]
        swapped[1::2] = replies[0::2]
        if not self._faults:
            return bytes(swapped)
        # Seats of finished matches were set to zero above, so "or" writes IDLE over them.
        shown = int.from_bytes(swapped, "little") | self._idle_mask
        return shown.to_bytes(self._seats, "little")
