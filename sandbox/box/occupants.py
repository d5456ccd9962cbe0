"""Who plays which seats of a block, and how messages get to them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from .frames import IDLE, NONE
from .hired import Worker

EXTERNAL = -1
"""Program number of a seat that the host plays."""
INSTANCES_PER_WORKER = 256


def gatherer(seats: tuple[int, ...], width: int) -> Callable[[bytes], bytes]:
    """A function that picks those seats' messages, `width` bytes each, out of everyone's."""
    step = seats[1] - seats[0] if len(seats) > 1 else 1
    if step > 0 and seats == tuple(range(seats[0], seats[-1] + 1, step)):
        if width == 1:
            return operator.itemgetter(slice(seats[0], seats[-1] + 1, step))
        if step == 1:
            return operator.itemgetter(slice(seats[0] * width, (seats[-1] + 1) * width))
    if width == 1:
        pick = operator.itemgetter(*seats)
        return lambda messages: bytes(pick(messages))
    spans = [slice(seat * width, (seat + 1) * width) for seat in seats]
    return lambda messages: b"".join([messages[span] for span in spans])


class Occupant:
    """One source of replies for some seats: a worker, or the host.

    Attributes:
      program: its number, or EXTERNAL.
      seats: flat numbers, rising.
      worker: None for the host, and for a worker that is out of the block.
      gather: picks the seats' messages out of everyone's.
      reply_bytes: length of the answer, its mark included.
      all_idle: the first bytes of messages that ask none of the seats.
      nothing: replies of seats that were asked for nothing.
      asked: whether this tick's messages were sent to the worker.
    """

    def __init__(
        self, program: int, seats: tuple[int, ...], width: int, worker: Worker | None
    ) -> None:
        self.program = program
        self.seats = seats
        self.worker = worker
        self.gather = gatherer(seats, width)
        self.reply_bytes = len(seats) + 1
        self.all_idle = bytes([IDLE]) * len(seats)
        self.nothing = bytes([NONE]) * len(seats)
        self.asked = False

    def lose_worker(self) -> None:
        """The seats have no worker any more."""
        self.worker = None


def seating_plan(
    matches: Sequence[tuple[int, tuple[int, int], tuple[int, int]]], *, isolate: bool
) -> list[tuple[int, tuple[int, ...]]]:
    """(program, flat seats) of each worker and of the host, ordered by first seat.

    A worker of several instances never plays two seats of one deal: neither both sides of a
    program's match against itself, nor both halves of a duplicate, in which the same cards are
    dealt with the seats swapped.  What one instance sees would tell the other what it may not
    know.

    Args:
      matches: as in `seating.Block`.
      isolate: a worker of its own for every seat.
    """
    seats: dict[tuple[int, int], list[int]] = {}
    met: dict[tuple[int, int], int] = {}
    for number, (deal, *plans) in enumerate(matches):
        for side, (program, _) in enumerate(plans):
            layer = 0
            if program != EXTERNAL:
                layer = met.get((program, deal), 0)
                met[program, deal] = layer + 1
            seats.setdefault((program, layer), []).append(2 * number + side)
    plan: list[tuple[int, tuple[int, ...]]] = []
    for (program, _), flat in seats.items():
        if program == EXTERNAL:
            plan.append((program, tuple(flat)))
            continue
        size = 1 if isolate else INSTANCES_PER_WORKER
        plan += [
            (program, tuple(flat[start : start + size])) for start in range(0, len(flat), size)
        ]
    return sorted(plan, key=operator.itemgetter(1))
