"""A sealed process as the referee sees it."""

from __future__ import annotations

import os

from .births import Zygote
from .children import Burial
from .limits import WorkerFault


class Worker:
    """One sealed process as the referee sees it.

    Attributes:
      zygote: what it was forked from.
      seats: flat numbers of the seats that it plays; none where it compiles.
      instances: how many times the limits of one instance it has.
      due: the worker and the processor time for one tick, as the watch wants to know it.
      down, up: the referee's ends of the pipes.
      pid: its process number.
      verdict: why the watch killed it, if it did.
      burial: how it ended, once it is buried.
      gone: it was buried, or never born.
      closed: nobody reads from it or writes to it any more.
      resident_before: bytes that it shared with its zygote when it was forked.
      held: bytes that it had beyond those at its end, or when the watch looked last, where it
        shares the box's memory.
      playing: it is loaded, so the limits of the match hold.
      waited: seconds that the referee has waited for it.
      cpu_total: processor seconds in all, once it is buried.
      cpu_before, starved_before, crowd_before: clocks when its matches began.
      given: where its processor clock stood when it got its order; None before, once it has
        answered, and where the clock cannot be trusted (`clocks.steady_seconds`).
      asked: the step of the watch in which that clock was read last while another worker was
        waited for, and where it stood; None where nobody looked.
    """

    def __init__(self, zygote: Zygote, seats: tuple[int, ...], call_seconds: float) -> None:
        self.zygote = zygote
        self.seats = seats
        self.instances = max(len(seats), 1)
        self.due = (self, call_seconds)
        self.far_read, self.down = os.pipe()
        self.up, self.far_write = os.pipe()
        self.pid = 0
        self.verdict: WorkerFault | None = None
        self.burial: Burial | None = None
        self.gone = False
        self.closed = False
        self.resident_before = 0
        self.held = 0
        self.playing = False
        self.waited = 0.0
        self.cpu_total = 0.0
        self.cpu_before = 0.0
        self.starved_before: float | None = None
        self.crowd_before = 0.0
        self.given: float | None = None
        self.asked: tuple[int, float] | None = None

    def born(self, pid: int) -> None:
        """The far ends are the worker's now."""
        self.pid = pid
        os.close(self.far_read)
        os.close(self.far_write)

    def close(self) -> None:
        """Gives back the descriptors."""
        self.closed = True
        ends = (self.up, self.down)
        for descriptor in ends if self.pid else (*ends, self.far_read, self.far_write):
            os.close(descriptor)
