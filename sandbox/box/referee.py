"""The box's main process: takes frames from the host, plays, answers.

Everything that is wrong with the box itself ends it with a frame that says why.  The host then
knows that nothing is known about the matches.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import socket
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from . import frames, zygote
from .allowance import Allowance, BoxBroken
from .budget import Budget
from .crew import Zygotes
from .frames import FrameError, Kind
from .play import EXTERNAL, Job, MatchEnd, Sitting
from .seal import Seal
from .watch import Watch

PULSE_SECONDS = 2.0
"""How often the host hears from a box that is busy."""
ISOLATED_TOGETHER = 8
"""Isolated matches that are played at the same time, each with two workers of its own."""
_ORPHAN_CHECK_MS = 2000
_TRIAL_SEED = 0


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
      control: the channel to the zygote.
      description: the parts of the seal, for people.
      budget: memory of all workers together.
    """

    def __init__(
        self,
        wire: tuple[int, int],
        control: socket.socket,
        description: str,
        budget: Budget,
    ) -> None:
        self._read_fd, self._write_fd = wire
        self._zygotes = Zygotes(control)
        self._tables: dict[str, types.ModuleType] = {}
        self._description = description
        self._last_sign = time.perf_counter()
        self._saying = threading.Lock()
        self._watch = Watch(self._pulse, budget)

    def run(self) -> None:
        """Serves until the host closes the stream."""
        self._say(
            Kind.READY,
            frames.document(
                {
                    "version": frames.VERSION,
                    "python": ".".join(str(part) for part in sys.version_info[:3]),
                    "seal": self._description,
                }
            ),
        )
        handlers = {Kind.TABLE: self._learn, Kind.PLAY: self._play, Kind.CHECK: self._check}
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
        self._zygotes.learn(name, text)

    def _job(self, header: Any, programs: Sequence[str], matches: Sequence[Any]) -> Job:
        return Job(
            table=self._tables[header["table"]],
            table_name=header["table"],
            class_name=header["class_name"],
            methods=[(name, count) for name, count in header["methods"]],
            programs=programs,
            matches=[(deal, tuple(first), tuple(second)) for deal, first, second in matches],
            isolate=header["isolate"],
            allowance=Allowance(**header["limits"]),
        )

    def _play(self, header: Any, blob: bytes) -> None:
        programs, at = [], 0
        for size in header["programs"]:
            programs.append(blob[at : at + size].decode("utf-8", "surrogatepass"))
            at += size
        matches = header["matches"]
        external = [seat[0] == EXTERNAL for _, *seats in matches for seat in seats]
        together = ISOLATED_TOGETHER if header["isolate"] else max(len(matches), 1)
        ends: list[MatchEnd] = []
        for start in range(0, len(matches), together):
            some = matches[start : start + together]
            before = sum(external[: 2 * start])
            here = sum(external[2 * start : 2 * (start + len(some))])
            host = _Host(self, before, here, sum(external) - before - here)
            played = self._sit(self._job(header, programs, some), host.ask)
            if header["isolate"]:
                played = self._settle(header, programs, some, played)
            ends += played
        rows = [[end.fault, end.cpu_seconds, end.final, len(end.moves)] for end in ends]
        moves = b"".join(end.moves for end in ends)
        self._say(Kind.OUTCOMES, frames.document(rows, moves))

    def _sit(self, job: Job, ask_host: Callable[[bytes], bytes]) -> list[MatchEnd]:
        return Sitting(job, self._zygotes, self._watch, ask_host).play()

    def _settle(
        self, header: Any, programs: Sequence[str], matches: Sequence[Any], ends: list[MatchEnd]
    ) -> list[MatchEnd]:
        """Plays again, alone, what others crowded out of memory; what comes of that is final.

        The host's own policies cannot be asked twice; their matches stay as they are.
        """
        settled = []
        for match, end in zip(matches, ends, strict=True):
            again = len(matches) > 1 and all(seat[0] != EXTERNAL for seat in match[1:])
            if not end.final and again:
                (end,) = self._sit(self._job(header, programs, [match]), self.ask_host)
            settled.append(replace(end, final=True))
        return settled

    def ask_host(self, messages: bytes) -> bytes:
        """One round trip for the external seats of one tick."""
        self._say(Kind.TICK, messages)
        kind, replies = frames.read_frame(self._read_fd)
        if kind != Kind.REPLIES:
            raise BoxBroken(f"the host sent a frame of kind {kind} where replies were due")
        return replies

    def _check(self, header: Any, source: bytes) -> None:
        """Loads a policy and asks it nothing."""
        match = (0, (0, _TRIAL_SEED), (EXTERNAL, 0))
        job = self._job(header, [source.decode("utf-8", "surrogatepass")], [match])
        fault = Sitting(job, self._zygotes, self._watch, self.ask_host).load_only()
        self._say(Kind.VERDICT, frames.document(fault))


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


def main(arguments: Sequence[str]) -> None:
    """Runs the box on standard input and output.

    Args:
      arguments: `--site FOLDER` where numpy is; `--core N` to stay on one processor core;
        `--memory-mib N` for all workers together; `--unsealed` for code that the user vouches
        for.
    """
    parser = argparse.ArgumentParser(prog="box")
    parser.add_argument("--site")
    parser.add_argument("--core", type=int)
    parser.add_argument("--memory-mib", type=int)
    parser.add_argument("--unsealed", action="store_true")
    options = parser.parse_args(list(arguments))
    if options.core is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {options.core})
    wire = (os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    try:
        seal = Seal(sealed=not options.unsealed)
        control = zygote.start(seal, options.site, wire)
        watch = threading.Thread(target=_watch_host, args=(wire[0], os.getppid()), daemon=True)
        watch.start()
        Referee(wire, control, seal.description, Budget(options.memory_mib)).run()
    except BaseException:  # noqa: BLE001 - the host is told, then the box ends
        with contextlib.suppress(OSError):
            frames.write_frame(wire[1], Kind.BROKEN, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)
