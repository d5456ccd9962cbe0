"""The referee's side of its workers: hire, ask, dismiss."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
from collections.abc import Sequence
from typing import Any

from . import control
from .allowance import Allowance, BoxBroken, WorkerFault
from .allowed import wants_numpy
from .budget import resident_bytes
from .frames import BROKE_PROTOCOL, DIED, TIMED_OUT
from .watch import Watch
from .worker import ASK_TEXT, HEADER_LENGTH, SEALED, TEXT_HEADER
from .zygote import FORKS_AT_ONCE

_TEXT_SECONDS = 1.0


class Zygotes:
    """The zygote without and, once a program wants it, the one with numpy."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._numpy: socket.socket | None = None

    @staticmethod
    def _ask(channel: socket.socket, request: dict[str, Any], descriptors: Sequence[int]) -> Any:
        try:
            control.send(channel, request, descriptors)
            answered = control.receive(channel)
        except OSError as error:
            raise BoxBroken(f"the zygote does not answer: {error}") from error
        if answered is None:
            raise BoxBroken("the zygote ended")
        return answered[0]

    def learn(self, name: str, source: str) -> None:
        """Tells the zygotes a game's table."""
        for channel in filter(None, (self._plain, self._numpy)):
            self._ask(channel, {"do": "table", "name": name, "source": source}, ())

    def channel(self, *, numpy: bool) -> socket.socket:
        """The zygote to fork from."""
        if not numpy:
            return self._plain
        if self._numpy is None:
            ours, theirs = control.pair()
            self._ask(self._plain, {"do": "numpy"}, (theirs.fileno(),))
            theirs.close()
            self._numpy = ours
        return self._numpy

    def fork(
        self, channel: socket.socket, pipes: Sequence[tuple[int, int]], **wanted: Any
    ) -> list[int]:
        """One worker for each (read, write) pair of descriptors; returns process numbers."""
        pids: list[int] = []
        for start in range(0, len(pipes), FORKS_AT_ONCE):
            some = pipes[start : start + FORKS_AT_ONCE]
            descriptors = [descriptor for pair in some for descriptor in pair]
            pids += self._ask(channel, {"do": "fork", **wanted}, descriptors)
        return pids

    def reap(self, channel: socket.socket, pids: Sequence[int]) -> list[tuple[int, float]]:
        """Kills and buries; returns (wait status, processor seconds) of each."""
        ends = self._ask(channel, {"do": "reap", "pids": list(pids)}, ())
        return [(status, cpu) for status, cpu, _ in ends]


class Worker:
    """One sealed process as the referee sees it.

    Attributes:
      zygote: channel to the zygote that it was forked from.
      seats: flat numbers of the seats that it plays.
      pid: its process number.
      verdict: why the watch killed it, if it did.
      gone: it was buried.
      crowded_out: the watch killed it because all workers together held too much memory.
      resident_before: bytes that it shared with its zygote when it was forked.
      call_seconds: processor time for one tick of all its instances.
      playing: it is loaded, so the limits of the match hold.
      waited: seconds that the referee has waited for it.
      cpu_total: processor seconds in all, once it is buried.
      cpu_before, starved_before, crowd_before: clocks when its matches began.
    """

    def __init__(self, zygote: socket.socket, seats: tuple[int, ...]) -> None:
        self.zygote = zygote
        self.seats = seats
        self.far_read, self.down = os.pipe()
        self.up, self.far_write = os.pipe()
        self.pid = 0
        self.verdict: WorkerFault | None = None
        self.gone = False
        self.crowded_out = False
        self.resident_before = 0
        self.call_seconds = 0.0
        self.playing = False
        self.status = 0
        self.waited = 0.0
        self.cpu_total = 0.0
        self.cpu_before = 0.0
        self.starved_before: float | None = None
        self.crowd_before = 0.0

    def forked(self, pid: int) -> None:
        """The far ends are the worker's now."""
        self.pid = pid
        os.close(self.far_read)
        os.close(self.far_write)

    def close(self) -> None:
        """Gives back the descriptors."""
        ends = (self.up, self.down)
        for descriptor in ends if self.pid else (*ends, self.far_read, self.far_write):
            os.close(descriptor)


class Crew:
    """All workers of matches that are played together.

    Args:
      zygotes: where workers come from.
      allowance: limits of one instance.
      watch: kills workers that exceed them.
    """

    def __init__(self, zygotes: Zygotes, allowance: Allowance, watch: Watch) -> None:
        self._zygotes = zygotes
        self._watch = watch
        self.allowance = allowance
        self.workers: list[Worker] = []

    def hire(self, table: str, wanted: Sequence[tuple[str, tuple[int, ...]]]) -> list[Worker]:
        """Forks one worker for each (source, seats), in that order."""
        hired = []
        for source, seats in wanted:
            worker = Worker(self._zygotes.channel(numpy=wants_numpy(source)), seats)
            worker.call_seconds = self.allowance.shared(self.allowance.act_seconds, len(seats))
            self.workers.append(worker)
            hired.append(worker)
        alike: dict[tuple[socket.socket, int], list[Worker]] = {}
        for worker in hired:
            alike.setdefault((worker.zygote, len(worker.seats)), []).append(worker)
        for (zygote, instances), workers in alike.items():
            pids = self._zygotes.fork(
                zygote,
                [(worker.far_read, worker.far_write) for worker in workers],
                table=table,
                memory_bytes=self.allowance.memory_bytes(instances),
                cpu_seconds=self.allowance.kernel_cpu(instances),
            )
            for worker, pid in zip(workers, pids, strict=True):
                worker.forked(pid)
                worker.resident_before = resident_bytes(pid)  # no policy has run in it yet
        self._watch.guard(self.workers, self.allowance)
        return hired

    def give_job(self, worker: Worker, header: dict[str, Any], body: bytes) -> None:
        """Sends a worker its program; it is sealed, and has run nothing of the policy yet.

        Raises:
          BoxBroken: the worker did not get that far, which cannot be the policy's doing.
        """
        try:
            said = self._read(worker, 1024, self.allowance.load_seconds)
            sealed = said == SEALED
            text = json.dumps({**header, "bytes": len(body)}).encode()
            rest = memoryview(HEADER_LENGTH.pack(len(text)) + text + body)
            while sealed and rest:
                rest = rest[os.write(worker.down, rest) :]
        except (OSError, WorkerFault) as error:
            raise BoxBroken(f"a worker took no job: {error}") from error
        if not sealed:
            raise BoxBroken(f"a worker could not be sealed: {said.decode('utf-8', 'replace')}")
        os.set_blocking(worker.down, False)  # a policy that stops reading must not stop us

    def loaded(self, worker: Worker) -> bytes:
        """Waits until a worker has loaded its program: one code for each instance.

        Raises:
          WorkerFault: it took too long or ended.
        """
        instances = len(worker.seats)
        limit = self.allowance.shared(self.allowance.load_seconds, instances)
        codes = self._read(worker, instances + 1, limit)
        if len(codes) != instances:
            raise self._broke(codes, f"{instances} bytes while loading")
        self._watch.start_match(worker)
        return codes

    def ask(self, worker: Worker, frame: bytes) -> None:
        """Sends a worker the messages of a tick.

        Raises:
          WorkerFault: it left so many frames unread that there is no room for another.
        """
        try:
            sent = os.write(worker.down, frame)
            if sent < len(frame):  # a small pipe; the worker reads while the rest is written
                self._write_rest(worker, frame[sent:])
        except BlockingIOError:
            text = "the policy's process stopped reading its messages"
            raise WorkerFault(BROKE_PROTOCOL, text) from None
        except OSError:
            pass  # it is gone; reading its answer says how

    def _write_rest(self, worker: Worker, rest: bytes) -> None:
        self._watch.waiting = (worker, worker.call_seconds)
        self._watch.steps += 1
        os.set_blocking(worker.down, True)
        try:
            while rest:
                rest = rest[os.write(worker.down, rest) :]
        finally:
            os.set_blocking(worker.down, False)
            self._watch.waiting = None

    def answer(self, worker: Worker, size: int, mark: int) -> bytes:
        """The replies to a tick that was sent already, without their mark.

        Raises:
          WorkerFault: no proper reply came in time.
        """
        watch = self._watch
        watch.waiting = (worker, worker.call_seconds)
        watch.steps += 1
        reply = os.read(worker.up, size + 2)
        if len(reply) != size + 1 or reply[0] != mark:
            raise self._broke(reply, f"{size} replies") if reply else self._ended(worker)
        return reply[1:]

    def rest(self) -> None:
        """Nobody is waited for until the next answer is read."""
        self._watch.waiting = None

    def text(self, worker: Worker, index: int, width: int) -> str:
        """What an instance did wrong, in its worker's words.  Never raises for the worker.

        Args:
          worker: whose instance it is.
          index: number of the instance in its worker.
          width: bytes of a message of the game.
        """
        most = 8 * self.allowance.message_chars
        try:
            request = bytes((ASK_TEXT,)) + index.to_bytes(len(worker.seats) * width, "little")
            os.write(worker.down, request)
            head = self._read(worker, TEXT_HEADER.size, _TEXT_SECONDS)
            kind, size = TEXT_HEADER.unpack(head)
            if kind != ASK_TEXT or size > most:
                return "(its own account of the error is not readable)"
            text = b""
            while len(text) < size:
                text += self._read(worker, size - len(text), _TEXT_SECONDS)
        except (WorkerFault, OSError, struct.error) as error:
            return f"(its own account of the error could not be had: {error})"
        return text.decode("utf-8", "replace")[: self.allowance.message_chars]

    def dismiss(self, workers: Sequence[Worker]) -> None:
        """Kills workers and notes how they ended and what they used."""
        by_zygote: dict[socket.socket, list[Worker]] = {}
        for worker in workers:
            if worker.gone:
                continue
            self._watch.release(worker)
            worker.close()
            if worker.pid:
                by_zygote.setdefault(worker.zygote, []).append(worker)
        for zygote, some in by_zygote.items():
            ends = self._zygotes.reap(zygote, [worker.pid for worker in some])
            for worker, (status, cpu) in zip(some, ends, strict=True):
                worker.status, worker.cpu_total = status, cpu

    def dismiss_all(self) -> None:
        """Kills every worker that is left."""
        self.rest()
        self._watch.guard((), None)
        self.dismiss(self.workers)

    def _read(self, worker: Worker, size: int, cpu_limit: float) -> bytes:
        """At least one byte.

        Raises:
          WorkerFault: the worker computed or idled for too long, or ended.
        """
        self._watch.waiting = (worker, cpu_limit)
        self._watch.steps += 1
        part = os.read(worker.up, size)
        self._watch.waiting = None
        if not part:
            raise self._ended(worker)
        return part

    def _ended(self, worker: Worker) -> WorkerFault:
        """Buries a worker that closed its channel, and says how it ended."""
        self.dismiss([worker])
        if worker.verdict is not None:
            return worker.verdict
        limit = self.allowance.match_cpu(len(worker.seats))
        if worker.cpu_total - worker.cpu_before > limit:
            return WorkerFault(TIMED_OUT, f"the match took more than {limit:g} s of processor time")
        if os.WIFEXITED(worker.status):
            how = f"ended with exit code {os.WEXITSTATUS(worker.status)}"
        elif os.WTERMSIG(worker.status) == signal.SIGKILL:
            how = "closed its channel or was killed"  # by `dismiss` at the latest
        else:
            how = f"ended by {_signal_name(os.WTERMSIG(worker.status))}"
        return WorkerFault(DIED, f"the policy's process {how}")

    @staticmethod
    def _broke(frame: bytes, expected: str) -> WorkerFault:
        return WorkerFault(
            BROKE_PROTOCOL,
            f"the policy's process sent {len(frame)} bytes that are no answer, where {expected} "
            "were due",
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
