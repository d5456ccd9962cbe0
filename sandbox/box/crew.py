"""The referee's side of its workers: hire, ask, dismiss."""

from __future__ import annotations

import json
import os
import signal
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .births import Zygote
from .box_memory import held_bytes, resident_bytes
from .children import Burial
from .clocks import steady_seconds
from .frames import BROKE_PROTOCOL, DIED, LOAD_FAILED, TIMED_OUT
from .hired import Worker
from .limits import BoxBroken, Limits, WorkerFault
from .nursery import Nursery
from .watch import Watch
from .worker import ASK_TEXT, LENGTH, SEALED, TEXT_HEADER

_TEXT_SECONDS = 1.0


class Crew:
    """All workers of matches that are played together.

    Args:
      nursery: where workers come from.
      limits: limits of one instance.
      watch: kills workers that exceed them.
      charged: the watch also ends workers that together hold more than the box has; see
        `BoxMemory`.
    """

    def __init__(self, nursery: Nursery, limits: Limits, watch: Watch, *, charged: bool) -> None:
        self._nursery = nursery
        self._watch = watch
        self._charged = charged
        self.limits = limits
        self.workers: list[Worker] = []

    def hire(self, wanted: Sequence[tuple[Zygote, tuple[int, ...]]]) -> list[Worker]:
        """Forks one worker for each (zygote, seats), in that order."""
        limits = self.limits
        hired = []
        alike: dict[tuple[Zygote, int], list[Worker]] = {}
        for zygote, seats in wanted:
            call_seconds = limits.shared(limits.act_seconds, max(len(seats), 1))
            worker = Worker(zygote, seats, call_seconds)
            self.workers.append(worker)
            hired.append(worker)
            alike.setdefault((zygote, worker.instances), []).append(worker)
        for (zygote, instances), workers in alike.items():
            pids = self._nursery.bear(
                zygote,
                [(worker.far_read, worker.far_write) for worker in workers],
                limits.memory_bytes(instances),
                limits.whole_cpu(instances),
            )
            for worker, pid in zip(workers, pids, strict=True):
                worker.born(pid)
                if self._charged:
                    worker.resident_before = resident_bytes(pid)  # no policy has run in it yet
        self._watch.guard(self.workers, limits, charged=self._charged)
        return hired

    def give_order(self, worker: Worker, header: dict[str, Any], body: bytes) -> None:
        """Sends a worker its program; it is sealed, and has run nothing of the policy yet.

        Raises:
          BoxBroken: the worker did not get that far, which cannot be the policy's doing.
        """
        try:
            said = self._read(worker, 1024, self.limits.load_seconds)
            sealed = said == SEALED
            text = json.dumps({**header, "bytes": len(body)}).encode()
            rest = memoryview(LENGTH.pack(len(text)) + text + body)
            while sealed and rest:
                rest = rest[os.write(worker.down, rest) :]
        except (OSError, WorkerFault) as error:
            raise BoxBroken(f"a worker took no order: {error}") from error
        if not sealed:
            raise BoxBroken(f"a worker could not be sealed: {said.decode('utf-8', 'replace')}")
        os.set_blocking(worker.down, False)  # a policy that stops reading must not stop us
        worker.given = steady_seconds(worker.pid)

    def compiled(self, worker: Worker, most: int) -> tuple[int, bytes]:
        """Waits for a worker that compiles: (0, marshalled code) or (fault code, text).

        Raises:
          WorkerFault: it took too long or ended.
        """
        head = self._read(worker, TEXT_HEADER.size, self.limits.load_seconds)
        worker.given = None
        while len(head) < TEXT_HEADER.size:
            head += self._read(worker, TEXT_HEADER.size - len(head), _TEXT_SECONDS)
        code, size = TEXT_HEADER.unpack(head)
        if size > most:
            text = f"the program compiles to {size} bytes; {most} are allowed"
            return LOAD_FAILED, text.encode()
        parts, missing = [], size
        while missing:
            parts.append(self._read(worker, min(missing, 1 << 20), _TEXT_SECONDS))
            missing -= len(parts[-1])
        return code, b"".join(parts)

    def loaded(self, worker: Worker) -> bytes:
        """Waits until a worker has loaded its program: one code for each instance.

        Raises:
          WorkerFault: it took too long or ended.
        """
        instances = worker.instances
        limit = self.limits.shared(self.limits.load_seconds, instances)
        codes = self._read(worker, instances + 1, limit)
        worker.given = None
        if len(codes) != instances:
            raise self._broke(codes, f"{instances} bytes while loading")
        self._watch.start_match(worker)
        return codes

    def write_rest(self, worker: Worker, rest: bytes) -> None:
        """Writes what of a large frame did not fit, while the worker reads.

        Raises:
          OSError: the worker is gone.
        """
        self._watch.waiting = worker.due
        self._watch.steps += 1
        os.set_blocking(worker.down, True)
        try:
            while rest:
                rest = rest[os.write(worker.down, rest) :]
        finally:
            os.set_blocking(worker.down, False)
            self._watch.waiting = None

    def no_answer(self, worker: Worker, reply: bytes) -> WorkerFault:
        """What is wrong with a worker whose reply to a tick is not what it has to be."""
        return self._broke(reply, f"{worker.instances} replies") if reply else self._ended(worker)

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
        most = 8 * self.limits.message_chars
        try:
            request = bytes((ASK_TEXT,)) + index.to_bytes(worker.instances * width, "little")
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
        return text.decode("utf-8", "replace")[: self.limits.message_chars]

    def dismiss(self, workers: Sequence[Worker]) -> None:
        """Kills workers, buries them, and notes how they ended and what they used."""
        killed = [worker for worker in workers if not worker.closed]
        with self._watch.paused():  # it must not touch a process number that may be given away
            for worker in killed:
                if self._charged and worker.pid and not worker.gone:
                    worker.held = held_bytes(worker) or worker.held
                worker.close()
                if worker.pid and not worker.gone:
                    with suppress(ProcessLookupError):
                        os.kill(worker.pid, signal.SIGKILL)
            for worker in killed:
                while worker.pid and not worker.gone:
                    self._note(worker.zygote.bury())
                worker.gone = True

    def _note(self, burial: Burial) -> None:
        """One of our workers has ended; it need not be the one that we wait for."""
        for worker in self.workers:
            if worker.pid == burial.pid and not worker.gone:
                worker.burial, worker.gone = burial, True
                worker.cpu_total = burial.cpu_seconds
                self._nursery.buried(worker.pid)

    def dismiss_all(self) -> None:
        """Kills every worker that is left."""
        self.rest()
        self._watch.guard((), None, charged=False)
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
        limit = self.limits.match_cpu(worker.instances)
        if worker.cpu_total - worker.cpu_before > limit:
            return WorkerFault(TIMED_OUT, f"the match took more than {limit:g} s of processor time")
        burial = worker.burial
        if burial is None or (not burial.exited and burial.status == signal.SIGKILL):
            how = "closed its channel or was killed"  # by `dismiss` at the latest
        elif burial.exited:
            how = f"ended with exit code {burial.status}"
        else:
            how = f"ended by {_signal_name(burial.status)}"
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
