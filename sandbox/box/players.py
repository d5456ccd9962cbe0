"""Who plays which seats of a block, and how messages get to them."""

from __future__ import annotations

import operator
from collections.abc import Callable

from .crew import Worker
from .frames import IDLE, NONE


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


class Player:
    """One source of replies for some seats: a worker, or the host.

    Attributes:
      seats: flat numbers, rising.
      worker: None for the host, and for a worker that is out of the block.
      gather: picks the seats' messages out of everyone's.
      all_idle: the first bytes of messages that ask none of the seats.
      nothing: replies of seats that were asked for nothing.
      asked: whether this tick's messages were sent to the worker.
    """

    def __init__(self, seats: tuple[int, ...], width: int, worker: Worker | None) -> None:
        self.seats = seats
        self.worker = worker
        self.gather = gatherer(seats, width)
        self.all_idle = bytes([IDLE]) * len(seats)
        self.nothing = bytes([NONE]) * len(seats)
        self.asked = False

    def lose_worker(self) -> None:
        """The seats have no worker any more."""
        self.worker = None
        self.asked = False
