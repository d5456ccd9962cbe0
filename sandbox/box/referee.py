"""The box's main process: takes frames from the host, plays, answers.

Everything that is wrong with the box itself ends it with a frame that says why.  The host then
knows that nothing is known about the matches.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
import traceback
import types
from typing import Any

from . import frames, kernel, zygote
from .births import Cradle, Zygote, first_zygote
from .box_memory import BoxMemory
from .frames import FrameError, Kind
from .limits import BoxBroken, Limits
from .nursery import Nursery
from .occupants import EXTERNAL
from .play import MatchEnd, Sitting
from .programs import Programs
from .seal import Seal, SealError, why_not
from .seating import Block
from .watch import Watch

PULSE_SECONDS = 2.0
"""How often the host hears from a box that is busy."""
MOST_AT_ONCE = 32
"""Workers of isolated matches that are there at the same time; more of them play no faster."""
_ORPHAN_CHECK_MS = 2000


def _watch_host(wire: int, parent: int) -> None:
    """Ends the box, and so its workers, as soon as the host is gone."""
    poll = select.poll()
    poll.register(wire, 0)  # hang-ups are always reported
    while True:
        if poll.poll(_ORPHAN_CHECK_MS) or os.getppid() != parent:
            os._exit(0)


class Referee:
    """Serves one host.

    Args:
      wire: descriptors to read from and to write to.
      nursery: where workers come from.
      memory: of all workers together.
    """

    def __init__(self, wire: tuple[int, int], nursery: Nursery, memory: BoxMemory) -> None:
        self._read_fd, self._write_fd = wire
        self._nursery = nursery
        self._memory = memory
        self._tables: dict[str, types.ModuleType] = {}
        self._programs = Programs()
        self._last_sign = time.perf_counter()
        self._saying = threading.Lock()
        self._watch = Watch(self._pulse, memory)

    def run(self, seal: str) -> None:
        """Serves until the host closes the stream.

        Args:
          seal: the parts of the seal, for people.
        """
        self._say(
            Kind.READY,
            frames.document(
                {
                    "version": frames.VERSION,
                    "python": ".".join(str(part) for part in sys.version_info[:3]),
                    "seal": seal,
                }
            ),
        )
        handlers = {Kind.TABLE: self._learn, Kind.PLAY: self._play}
        while True:
            try:
                kind, body = frames.read_frame(self._read_fd)
            except FrameError:
                return
            handlers[Kind(kind)](*frames.parse_document(body))

    def _say(self, kind: Kind, body: bytes = b"") -> None:
        with self._saying:
            frames.write_frame(self._write_fd, kind, body)
        self._last_sign = time.perf_counter()

    def _pulse(self) -> None:
        if time.perf_counter() - self._last_sign > PULSE_SECONDS:
            self._say(Kind.ALIVE)

    def _learn(self, header: Any, source: bytes) -> None:
        name, text = header["name"], source.decode()
        self._tables[name] = zygote.load_table(name, text)
        self._nursery.learn(name, text)

    def _play(self, header: Any, blob: bytes) -> None:
        programs, at = [], 0
        for size in header["programs"]:
            programs.append(blob[at : at + size])
            at += size
        limits = Limits(**header["limits"])
        at_once = self._memory.workers_at_once(limits.memory_mib, MOST_AT_ONCE)
        matches = header["matches"]
        external = [seat[0] == EXTERNAL for _, *seats in matches for seat in seats]
        together = at_once // 2 if header["isolate"] else max(len(matches), 1)
        ends: list[MatchEnd] = []
        for start in range(0, len(matches), together):
            some = matches[start : start + together]
            before = sum(external[: 2 * start])
            here = sum(external[2 * start : 2 * (start + len(some))])
            host = _Host(self, before, here, sum(external) - before - here)
            block = Block(
                table=self._tables[header["table"]],
                table_name=header["table"],
                class_name=header["class_name"],
                methods=[(name, count) for name, count in header["methods"]],
                programs=programs,
                matches=[(deal, tuple(first), tuple(second)) for deal, first, second in some],
                isolate=header["isolate"],
                at_once=at_once,
                limits=limits,
            )
            ends += Sitting(block, self._nursery, self._watch, self._programs, host.ask).play()
        rows = [
            [end.fault, end.cpu_seconds, end.held_bytes, end.final, len(end.moves)] for end in ends
        ]
        moves = b"".join(end.moves for end in ends)
        self._say(Kind.OUTCOMES, frames.document(rows, moves))

    def ask_host(self, messages: bytes) -> bytes:
        """One round trip for the external seats of one tick."""
        self._say(Kind.TICK, messages)
        kind, replies = frames.read_frame(self._read_fd)
        if kind != Kind.REPLIES:
            raise BoxBroken(f"the host sent a frame of kind {kind} where replies were due")
        return replies


class _Host:
    """External seats of a part of a block: the host always sees those of the whole block."""

    def __init__(self, referee: Referee, before: int, here: int, after: int) -> None:
        self._referee = referee
        self._before, self._here, self._after = before, here, after

    def ask(self, messages: bytes) -> bytes:
        width = len(messages) // self._here
        nothing = bytes([frames.IDLE]) * width
        everyone = nothing * self._before + messages + nothing * self._after
        replies = self._referee.ask_host(everyone)
        if len(replies) != self._before + self._here + self._after:
            raise BoxBroken(f"the host sent {len(replies)} replies for its external seats")
        return replies[self._before : self._before + self._here]


def main() -> None:
    """Runs the box on standard input and output.

    The command line is the same for every box, because policies could read it.  What differs
    comes in the first frame; see `_serve`.
    """
    wire = _take_wire()
    try:
        kernel.stop_clocks()
        with contextlib.suppress(OSError, AttributeError):
            # Who wakes up does not interrupt who runs, so a tick is one round of the workers.
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        seal = Seal()
        started = first_zygote()
        if isinstance(started, Cradle):
            for descriptor in wire:
                os.close(descriptor)
            zygote.live(started, seal)
        _serve(wire, seal, started)
    except BaseException:  # noqa: BLE001 - the host is told, then the box ends
        with contextlib.suppress(OSError):
            frames.write_frame(wire[1], Kind.BROKEN, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)


def _take_wire() -> tuple[int, int]:
    """The standard streams' descriptors, with /dev/null in their place."""
    wire = (os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return wire


def _serve(wire: tuple[int, int], seal: Seal, first: Zygote) -> None:
    """Is the referee, as the host's first frame says.

    Its header: "site", the folder where numpy is, or null; "core", the processor core to stay
    on, or null; "memory_mib", for all workers together, or null; "unsealed", true for code that
    the user vouches for.

    Raises:
      SealError: this platform cannot seal a process.
    """
    try:
        kind, body = frames.read_frame(wire[0])
    except FrameError:
        return
    if kind != Kind.START:
        raise BoxBroken(f"the host sent a frame of kind {kind} where START was due")
    options, _ = frames.parse_document(body)
    problem = why_not()
    if problem is not None and not options["unsealed"]:
        raise SealError(problem)
    if options["core"] is not None:
        for pid in (0, first.pid):
            with contextlib.suppress(OSError, AttributeError):
                os.sched_setaffinity(pid, {options["core"]})
    watch = threading.Thread(target=_watch_host, args=(wire[0], os.getppid()), daemon=True)
    watch.start()
    sealed = not options["unsealed"]
    nursery = Nursery(first, seal.first_user, options["site"], sealed=sealed)
    referee = Referee(wire, nursery, BoxMemory(options["memory_mib"]))
    referee.run(seal.description(sealed=sealed))
