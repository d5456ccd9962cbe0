"""Plays matches that share a table, tick by tick."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .crew import Crew
from .frames import (
    BROKE_PROTOCOL,
    DIED,
    FAULT_NAMES,
    IDLE,
    ILLEGAL,
    LOAD_FAILED,
    MALFORMED,
    NONE,
    OUT_OF_MEMORY,
    RAISED,
    TIMED_OUT,
    WORKER_WIDE,
)
from .limits import WorkerFault
from .nursery import Nursery
from .occupants import EXTERNAL, Occupant
from .programs import Programs
from .seating import GENERIC_LOAD_TEXT, Block, Seated, Seating
from .watch import Watch

_MARKS = [bytes([mark]) for mark in range(256)]
_FROM_WORKER = bytes(
    code
    if code < TIMED_OUT or code in (OUT_OF_MEMORY, LOAD_FAILED, RAISED, ILLEGAL, MALFORMED, NONE)
    else BROKE_PROTOCOL
    for code in range(256)
)
"""A worker cannot speak for the referee."""
_NO_FAULT = bytes((*range(TIMED_OUT), NONE))
_IS_IDLE = bytes(int(head == IDLE) for head in range(256))
_IS_ACTION = bytes(int(code < TIMED_OUT) for code in range(256))
_GENERIC_TEXTS = {
    ILLEGAL: "the policy chose an action that the rules do not allow here",
    MALFORMED: "the policy returned something that is not exactly a str (numpy's np.str_ is "
    "none: return str(action))",
    RAISED: "the policy raised an exception",
    OUT_OF_MEMORY: "the policy asked for more memory than it may have",
    LOAD_FAILED: GENERIC_LOAD_TEXT,
    BROKE_PROTOCOL: "the policy's process sent a code that only the referee may use",
}
_STOPPED_READING = "the policy's process stopped reading its messages"


@dataclass(frozen=True)
class MatchEnd:
    """What came of one match: (seat, fault name, text) or None, and the rest as in `Outcome`."""

    moves: bytes
    fault: tuple[int, str, str] | None
    cpu_seconds: tuple[float, float]
    held_bytes: tuple[int, int]
    final: bool


class Sitting:
    """The matches of one block around one table.

    Args:
      block: what is to be played.
      nursery: where workers come from.
      watch: holds workers to their time.
      programs: what was compiled already.
      ask_host: plays all external seats of the block: messages in, replies out.
    """

    def __init__(
        self,
        block: Block,
        nursery: Nursery,
        watch: Watch,
        programs: Programs,
        ask_host: Callable[[bytes], bytes],
    ) -> None:
        self._block = block
        self._ask_host = ask_host
        self._width: int = block.table.MESSAGE_BYTES
        self._table = block.table.Table([match[0] for match in block.matches])
        self._watch = watch
        self._crew = Crew(nursery, block.limits, watch, charged=not block.isolate)
        self._seating = Seating(block, nursery, self._crew, programs)
        self._seated = Seated()

    def play(self) -> list[MatchEnd]:
        """Plays to the end."""
        try:
            self._seated = self._seating.seat_everyone()
            self._run(dict(self._seated.codes))
        finally:
            self._crew.dismiss_all()
        return self._ends()

    def _run(self, pending: dict[int, int]) -> None:
        """Ticks until the table is done.

        Args:
          pending: fault codes to hand to the table with the next replies.
        """
        table, width = self._table, self._width
        order = [seat for occupant in self._seated.occupants for seat in occupant.seats]
        in_order = order == list(range(len(order)))
        place = {seat: position for position, seat in enumerate(order)}
        scatter = operator.itemgetter(*(place[seat] for seat in range(len(order))))
        tick = 0
        while not table.done:
            messages = table.messages()
            heads = messages if width == 1 else messages[::width]
            mark = 1 + tick % 255
            self._ask(messages, mark, pending, somebody_idles=IDLE in heads)
            joined = self._answers(messages, mark, pending)
            replies = joined if in_order else bytes(scatter(joined))
            if IDLE in heads:
                replies = self._only_asked(heads, replies)
            if pending or replies.translate(None, _NO_FAULT):
                replies = self._with_faults(replies, pending)
            table.advance(replies)
            tick += 1

    def _ask(
        self, messages: bytes, mark: int, pending: dict[int, int], *, somebody_idles: bool
    ) -> None:
        """Sends every worker its messages, so that they all compute while one is waited for."""
        write, prefix, width = os.write, _MARKS[mark], self._width
        for occupant in self._seated.occupants:
            worker = occupant.worker
            if worker is None:
                continue
            frame = prefix + occupant.gather(messages)
            if somebody_idles and frame[1::width] == occupant.all_idle:
                occupant.asked = False
                continue
            occupant.asked = True
            try:
                sent = write(worker.down, frame)
                if sent < len(frame):  # a small pipe; the worker reads while the rest is written
                    self._crew.write_rest(worker, frame[sent:])
            except BlockingIOError:  # it left so many frames unread that there is no room
                self._lose(occupant, WorkerFault(BROKE_PROTOCOL, _STOPPED_READING), pending)
            except OSError:
                pass  # it is gone; reading its answer says how

    def _answers(self, messages: bytes, mark: int, pending: dict[int, int]) -> bytes:
        """The replies of all occupants, one after the other."""
        read, watch = os.read, self._watch
        watch.steps += 1
        replies = []
        for occupant in self._seated.occupants:
            worker = occupant.worker
            if worker is None:
                watch.waiting = None
                is_host = occupant.program == EXTERNAL
                replies.append(
                    self._ask_host(occupant.gather(messages)) if is_host else occupant.nothing
                )
            elif occupant.asked:
                watch.waiting = worker.due
                reply = read(worker.up, occupant.reply_bytes + 1)
                if len(reply) == occupant.reply_bytes and reply[0] == mark:
                    replies.append(reply[1:].translate(_FROM_WORKER))
                else:
                    self._lose(occupant, self._crew.no_answer(worker, reply), pending)
                    replies.append(occupant.nothing)
            else:
                replies.append(occupant.nothing)
        watch.waiting = None
        return b"".join(replies)

    def _lose(self, occupant: Occupant, fault: WorkerFault, pending: dict[int, int]) -> None:
        """Takes a whole worker out of the block."""
        assert occupant.worker is not None
        self._crew.dismiss([occupant.worker])
        self._leave(occupant, occupant.seats, fault, pending)

    def _leave(
        self,
        occupant: Occupant,
        seats: Sequence[int],
        fault: WorkerFault,
        pending: dict[int, int],
    ) -> None:
        """Seats lose their worker; what is over already stays as it is."""
        occupant.lose_worker()
        for seat in seats:
            if self._table.fault(seat // 2) is None:
                pending[seat] = fault.code
                self._seated.texts.setdefault(seat, fault.text)
                if fault.code in WORKER_WIDE and not self._block.isolate:
                    self._seated.void.add(seat)

    @staticmethod
    def _only_asked(heads: bytes, replies: bytes) -> bytes:
        """The replies without actions from seats that were asked for nothing."""
        idle = int.from_bytes(heads.translate(_IS_IDLE), "little")
        if not idle or not idle & int.from_bytes(replies.translate(_IS_ACTION), "little"):
            return replies
        return bytes(
            NONE if head == IDLE and reply < TIMED_OUT else reply
            for head, reply in zip(heads, replies, strict=True)
        )

    def _with_faults(self, replies: bytes, pending: dict[int, int]) -> bytes:
        """Puts pending codes in, and fetches the texts of faults that workers report."""
        changed = bytearray(replies)
        for seat, code in pending.items():
            changed[seat] = code
        pending.clear()
        texts = self._seated.texts
        for occupant in self._seated.occupants:
            for index, seat in enumerate(occupant.seats):
                code = changed[seat]
                if occupant.worker is None or code < TIMED_OUT or code == NONE or seat in texts:
                    continue
                if code == LOAD_FAILED and seat not in self._seated.load_failed:
                    changed[seat] = code = BROKE_PROTOCOL
                asked = code != BROKE_PROTOCOL
                text = self._crew.text(occupant.worker, index, self._width) if asked else ""
                texts[seat] = text or _GENERIC_TEXTS[code]
                if occupant.worker.closed:  # it ended while it gave account
                    rest = [other for other in occupant.seats if other not in texts]
                    fault = WorkerFault(DIED, _GENERIC_TEXTS[RAISED])
                    self._leave(occupant, rest, fault, pending)
        return bytes(changed)

    def _ends(self) -> list[MatchEnd]:
        seats = 2 * len(self._block.matches)
        cpu, held = [0.0] * seats, [0] * seats
        for worker in self._crew.workers:
            for seat in worker.seats:
                cpu[seat] = worker.cpu_total / worker.instances
                held[seat] = worker.held // worker.instances
        ends = []
        for match in range(len(self._block.matches)):
            fault: tuple[int, str, str] | None = None
            final = True
            recorded: Any = self._table.fault(match)
            if recorded is not None:
                side, code = recorded
                seat = 2 * match + side
                text = self._seated.texts.get(seat, "") or _GENERIC_TEXTS[code]
                fault = (side, FAULT_NAMES[code], text)
                final = seat not in self._seated.void
            ends.append(
                MatchEnd(
                    moves=self._table.moves(match),
                    fault=fault,
                    cpu_seconds=(cpu[2 * match], cpu[2 * match + 1]),
                    held_bytes=(held[2 * match], held[2 * match + 1]),
                    final=final,
                )
            )
        return ends
