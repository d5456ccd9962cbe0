"""The referee's side of its workers: hire, ask with deadlines, dismiss."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import clocks
from .allowed import wants_numpy
from .frames import BROKE_PROTOCOL, DIED, STALLED, TIMED_OUT
from .worker import ASK_TEXT, CHUNK, SEALED
from .zygote import FORKS_AT_ONCE, LARGEST_MESSAGE

SLICE = 0.05
"""Seconds that one receive blocks before the clocks are read."""
IDLE_ACTS = 10
"""A call may idle this many times as long as it may compute."""
_TIMEVAL = struct.pack("@ll", 0, int(SLICE * 1e6))
_LOAD_SEND_SECONDS = 10
_TEXT_SECONDS = 1.0


class BoxBroken(Exception):
    """The box itself failed; whatever was being played is void."""


class WorkerFault(Exception):
    """A worker can play no more.

    Attributes:
      code: one of the codes of the referee (`frames.FAULT_NAMES`).
      text: for the author.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Allowance:
    """What one instance may use; the fields of `sandbox.values.Limits` that the box needs."""

    source_bytes: int
    load_seconds: float
    act_seconds: float
    match_seconds: float
    match_wall_seconds: float
    memory_mib: int
    message_chars: int

    def memory_bytes(self, instances: int) -> int:
        """Address space of a worker: a sixteenth more for every further instance."""
        return int(self.memory_mib * 1024 * 1024 * (1 + (instances - 1) / 16))

    def shared(self, seconds: float, instances: int) -> float:
        """A time limit of one call, for a call that many instances answer together.

        Tighter than the sum of their limits: what exceeds it is played again one by one.
        """
        return seconds * (1 + (instances - 1) / 16)

    def cpu_seconds(self, instances: int) -> int:
        """When the kernel kills a worker, should the referee not have done it."""
        most = self.shared(self.load_seconds, instances) + self.match_seconds * instances
        return int(most) + 5


class Zygotes:
    """The zygote without and, once a program wants it, the one with numpy."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._numpy: socket.socket | None = None
        self._tables: dict[str, str] = {}

    @staticmethod
    def _ask(control: socket.socket, request: dict[str, Any], descriptors: Sequence[int]) -> Any:
        message = json.dumps(request).encode()
        try:
            socket.send_fds(control, [message], list(descriptors))
            answer = control.recv(LARGEST_MESSAGE)
        except OSError as error:
            raise BoxBroken(f"the zygote does not answer: {error}") from error
        if not answer:
            raise BoxBroken("the zygote ended")
        return json.loads(answer)

    def learn(self, name: str, source: str) -> None:
        """Tells the zygotes a game's table."""
        self._tables[name] = source
        for control in filter(None, (self._plain, self._numpy)):
            self._ask(control, {"do": "table", "name": name, "source": source}, ())

    def control(self, *, numpy: bool) -> socket.socket:
        """The zygote to fork from."""
        if not numpy:
            return self._plain
        if self._numpy is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._ask(self._plain, {"do": "numpy"}, (theirs.fileno(),))
            theirs.close()
            self._numpy = ours
        return self._numpy

    def fork(self, control: socket.socket, channels: Sequence[int], **wanted: Any) -> list[int]:
        """One worker for each channel; returns process numbers."""
        pids: list[int] = []
        for start in range(0, len(channels), FORKS_AT_ONCE):
            some = channels[start : start + FORKS_AT_ONCE]
            pids += self._ask(control, {"do": "fork", **wanted}, some)
        return pids

    def reap(self, control: socket.socket, pids: Sequence[int]) -> list[tuple[int, float]]:
        """Kills and buries; returns (wait status, processor seconds) of each."""
        ends = self._ask(control, {"do": "reap", "pids": list(pids)}, ())
        return [(status, cpu) for status, cpu, _ in ends]


class Worker:
    """One sealed process as the referee sees it: it plays `seats`, flat seat numbers."""

    def __init__(self, control: socket.socket, seats: tuple[int, ...]) -> None:
        self.control = control
        self.seats = seats
        self.channel, self.far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL)
        self.pid = 0
        self.waited = 0.0
        self.cpu_before = 0.0
        self.starved_before: float | None = None
        self.cpu_total = 0.0
        self.gone = False


class Crew:
    """All workers of matches that are played together.

    Args:
      zygotes: where workers come from.
      allowance: limits of one instance.
      pulse: called often while waiting; tells the host that the box is alive.
    """

    def __init__(self, zygotes: Zygotes, allowance: Allowance, pulse: Callable[[], None]) -> None:
        self._zygotes = zygotes
        self.allowance = allowance
        self._pulse = pulse
        self.workers: list[Worker] = []

    def hire(self, table: str, wanted: Sequence[tuple[str, tuple[int, ...]]]) -> list[Worker]:
        """Forks one worker for each (source, seats), in that order."""
        hired = [
            Worker(self._zygotes.control(numpy=wants_numpy(source)), seats)
            for source, seats in wanted
        ]
        self.workers += hired
        alike: dict[tuple[socket.socket, int], list[Worker]] = {}
        for worker in hired:
            alike.setdefault((worker.control, len(worker.seats)), []).append(worker)
        for (control, instances), workers in alike.items():
            pids = self._zygotes.fork(
                control,
                [worker.far_end.fileno() for worker in workers],
                table=table,
                memory_bytes=self.allowance.memory_bytes(instances),
                cpu_seconds=self.allowance.cpu_seconds(instances),
            )
            for worker, pid in zip(workers, pids, strict=True):
                worker.pid = pid
                worker.far_end.close()
        return hired

    def give_job(self, worker: Worker, header: dict[str, Any], body: bytes) -> None:
        """Sends a worker its program; it is sealed, and has run nothing of the policy yet."""
        said = self._receive(worker, len(SEALED) + 1, self.allowance.load_seconds)
        if said != SEALED:
            raise BoxBroken("a worker could not be sealed")
        worker.channel.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _LOAD_SEND_SECONDS, 0)
        )
        header = {**header, "bytes": len(body), "instances": len(worker.seats)}
        try:
            worker.channel.send(json.dumps(header).encode())
            for start in range(0, len(body), CHUNK):
                worker.channel.send(body[start : start + CHUNK])
        except OSError as error:
            raise BoxBroken(f"a sealed worker took no job: {error}") from error

    def loaded(self, worker: Worker) -> bytes:
        """Waits until a worker has loaded its program: one code for each instance.

        Raises:
          WorkerFault: it took too long or ended.
        """
        instances = len(worker.seats)
        limit = self.allowance.shared(self.allowance.load_seconds, instances)
        codes = self._receive(worker, instances + 1, limit)
        if len(codes) != instances:
            raise self._broke(codes, f"{instances} bytes while loading")
        worker.cpu_before = clocks.cpu_seconds(worker.pid) or 0.0
        worker.starved_before = clocks.starved_seconds(worker.pid)
        worker.waited = 0.0
        return codes

    def send(self, worker: Worker, frame: bytes) -> None:
        """Sends without ever blocking.

        Raises:
          WorkerFault: the worker left so many frames unread that there is no room.
        """
        try:
            worker.channel.send(frame, socket.MSG_DONTWAIT)
        except BlockingIOError:
            raise WorkerFault(
                BROKE_PROTOCOL, "the policy's process stopped reading its messages"
            ) from None
        except OSError:
            pass  # it is gone; the receive that follows says how

    def answer(self, worker: Worker, size: int, mark: int) -> bytes:
        """The reply to a tick, without its mark.

        Raises:
          WorkerFault: no proper reply came in time.
        """
        started = time.perf_counter()
        try:
            reply = worker.channel.recv(size + 2)
        except OSError:
            reply = b""
        if not reply:
            limit = self.allowance.shared(self.allowance.act_seconds, len(worker.seats))
            reply = self._receive(worker, size + 2, limit)
        worker.waited += time.perf_counter() - started
        if len(reply) != size + 1 or reply[0] != mark:
            raise self._broke(reply, f"{size} replies")
        return reply[1:]

    def text(self, worker: Worker, index: int) -> str:
        """What an instance did wrong, in its worker's words.  Never raises for the worker."""
        try:
            self.send(worker, struct.pack("<BH", ASK_TEXT, index))
            reply = self._receive(worker, 8 * self.allowance.message_chars + 64, _TEXT_SECONDS)
        except WorkerFault as fault:
            return f"(its own account of the error could not be had: {fault.text})"
        if reply[:1] != bytes([ASK_TEXT]):
            return "(its own account of the error is not readable)"
        return reply[1:].decode("utf-8", "replace")[: self.allowance.message_chars]

    def audit(self, worker: Worker) -> None:
        """Holds a worker to its limits for the match.

        Raises:
          WorkerFault: it used too much time, or was idle for too long.
        """
        used = clocks.cpu_seconds(worker.pid)
        if used is None:
            return  # the next receive says what became of it
        used -= worker.cpu_before
        limit = self.allowance.match_seconds * len(worker.seats)
        if used > limit:
            raise WorkerFault(
                TIMED_OUT, f"the match took more than {limit:g} s of processor time ({used:.2f} s)"
            )
        idle = worker.waited - used
        if idle > self.allowance.match_wall_seconds:
            idle -= self._starved(worker, worker.starved_before)
        if idle > self.allowance.match_wall_seconds:
            raise WorkerFault(
                STALLED,
                f"the match took more than {self.allowance.match_wall_seconds:g} s in which the "
                "policy neither answered nor computed",
            )

    def dismiss(self, workers: Sequence[Worker]) -> list[int]:
        """Kills workers and notes what they used; returns their wait statuses (-1: gone)."""
        statuses = []
        for worker in workers:
            if worker.gone:
                statuses.append(-1)
                continue
            worker.gone = True
            worker.channel.close()
            worker.far_end.close()
            if not worker.pid:
                continue
            ((status, worker.cpu_total),) = self._zygotes.reap(worker.control, [worker.pid])
            statuses.append(status)
        return statuses

    def dismiss_all(self) -> None:
        """Kills every worker that is left."""
        self.dismiss(self.workers)

    def _starved(self, worker: Worker, before: float | None) -> float:
        """How long a worker wanted to run and could not, since `before`, as far as is known."""
        now = clocks.starved_seconds(worker.pid)
        if now is not None and before is not None:
            return now - before
        # A kernel that does not tell: others of this crew may have held the processors.
        others = (clocks.cpu_seconds(other.pid) for other in self.workers if other is not worker)
        return sum(filter(None, others))

    def _receive(self, worker: Worker, size: int, cpu_limit: float) -> bytes:
        """One packet, waited for as long as the limits allow.

        Raises:
          WorkerFault: it computed or idled for too long, or ended.
        """
        cpu_start = clocks.cpu_seconds(worker.pid) or 0.0
        starved_start = clocks.starved_seconds(worker.pid)
        others_start = 0.0 if starved_start is not None else self._starved(worker, None)
        waited = 0.0
        while True:
            before = time.perf_counter()
            try:
                packet = worker.channel.recv(size)
            except BlockingIOError:
                packet = None
            except OSError:
                packet = b""
            if packet:
                return packet
            if packet is not None:
                raise self._ended(worker)
            self._pulse()
            # A box that was stopped as a whole wakes up late; nobody is charged for that.
            waited += min(time.perf_counter() - before, 2 * SLICE)
            used = (clocks.cpu_seconds(worker.pid) or cpu_start) - cpu_start
            if used > cpu_limit:
                raise WorkerFault(
                    TIMED_OUT, f"one call took more than {cpu_limit:g} s of processor time"
                )
            if used:
                self.audit(worker)
            idle = waited - used
            idle_limit = min(IDLE_ACTS * cpu_limit, self.allowance.match_wall_seconds)
            if idle > idle_limit:
                idle -= self._starved(worker, starved_start) - others_start
            if idle > idle_limit:
                raise WorkerFault(
                    STALLED,
                    f"one call took more than {idle_limit:g} s in which the policy neither "
                    "answered nor computed",
                )

    def _ended(self, worker: Worker) -> WorkerFault:
        used = clocks.cpu_seconds(worker.pid)
        (status,) = self.dismiss([worker])
        limit = self.allowance.match_seconds * len(worker.seats)
        if (used or worker.cpu_total) - worker.cpu_before > limit:
            return WorkerFault(TIMED_OUT, f"the match took more than {limit:g} s of processor time")
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = f"signal {number}"
            how = f"ended by {name}"
        else:
            how = f"ended with exit code {os.WEXITSTATUS(status)}"
        return WorkerFault(DIED, f"the policy's process {how}")

    @staticmethod
    def _broke(frame: bytes, expected: str) -> WorkerFault:
        return WorkerFault(
            BROKE_PROTOCOL,
            f"the policy's process sent {len(frame)} bytes where {expected} were due",
        )
