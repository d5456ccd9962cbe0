"""Worker processes of this machine: each builds a handler once and then runs one chunk at a time.

Processes, not threads: native bots share one random stream per process, and OpenSpiel holds the
interpreter's lock.  A worker dies with its parent, however the parent ends.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from arena.executors.protocol import TICK_SECONDS, ChunkQueue, Handler, Ticket
from sandbox.errors import SandboxUnavailable

_log = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1
_END_SECONDS = 2.0
"""Seconds that a worker has to end by itself."""


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _die_with_parent(parent: int) -> None:
    """Linux: the kernel kills this process when its parent ends; elsewhere the pipe's end does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _work(pipe: Connection, build: Callable[[], Handler], parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _die_with_parent(parent)
    handler: Handler | None = None
    try:
        while True:
            chunk = pipe.recv()
            try:
                handler = handler or build()
                answer: tuple[bool, Any] = (True, handler.run(chunk))
            except Exception as error:  # noqa: BLE001 - handed to the parent, which raises it
                answer = (False, error)
            pipe.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        if handler is not None:
            handler.close()


@contextmanager
def _main_out_of_sight() -> Iterator[None]:
    """Keeps `spawn` from importing the caller's main program into every worker.

    Workers need nothing of it.  Importing it costs them most of a second, and would run a script
    that has no guard against being imported.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class LocalExecutor:
    """Worker processes of this machine.

    Args:
      build: makes a worker's handler; runs in the worker, so it must be picklable.
      most: workers at most; 0 for one per processor.
      brief: whether a chunk takes a fraction of a second and little to hand over.  A worker is
        given the chunk after such a one at the same time, so that it need not wait until this
        process, which may be storing things, has time for it.
      again: whether a chunk whose box broke is played again here; where it is not, whoever asked
        gets the `SandboxUnavailable`.
    """

    def __init__(
        self,
        build: Callable[[], Handler],
        *,
        most: int = 0,
        brief: Callable[[Any], bool] = lambda chunk: False,
        again: bool = True,
    ) -> None:
        self.capacity = most or processors()
        self._build, self._brief, self._again = build, brief, again
        self._workers: dict[Connection, Any] = {}
        self._busy: dict[Connection, list[Ticket[Any]]] = {}

    @property
    def size(self) -> int:
        """How many worker processes there are."""
        return len(self._workers)

    def grow(self, count: int) -> None:
        """Starts workers until there are so many, at least one and at most `capacity`."""
        self._end(self._busy)  # of whoever stopped taking answers, and closed nothing
        while self.size < max(min(count, self.capacity), 1):
            self._start()

    def run(
        self,
        chunks: Iterator[Any],
        more: Callable[[], Any | None] = lambda: None,
        watch: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Runs chunks and yields their answers as they come; see `Executor.run`."""
        queue = ChunkQueue(chunks, more)
        idle = list(self._workers)
        self._busy = busy = dict[Connection, list[Ticket[Any]]]()
        try:
            while True:
                while idle and (ticket := queue.take()) is not None:
                    pipe = idle.pop()
                    busy[pipe] = [ticket]
                    try:
                        pipe.send(ticket.chunk)
                    except OSError:
                        idle.append(self._instead_of(pipe, queue, busy.pop(pipe)))
                if not busy:
                    return
                self._give_ahead(queue, busy)
                ready = set(multiprocessing.connection.wait(list(busy), TICK_SECONDS))
                watch()
                for pipe in [pipe for pipe in busy if pipe in ready]:
                    try:
                        good, answer = pipe.recv()
                    except (EOFError, OSError):
                        idle.append(self._instead_of(pipe, queue, busy.pop(pipe)))
                        continue
                    ticket = busy[pipe].pop(0)
                    if not busy[pipe]:
                        del busy[pipe]
                    if good:
                        yield answer
                    elif self._again and isinstance(answer, SandboxUnavailable):
                        queue.broke(ticket, answer)
                    else:
                        raise answer
                    if pipe not in busy:
                        idle.append(pipe)
        finally:  # what is still under way would be taken for the answers to later chunks
            self._end(busy)

    def _give_ahead(
        self, queue: ChunkQueue[Any], busy: Mapping[Connection, list[Ticket[Any]]]
    ) -> None:
        """Gives workers that have one brief chunk another one.

        Only brief ones, of which two fit into a pipe: a worker that answers does not read, and
        nobody reads its answer while this waits for room.
        """
        for pipe, tickets in busy.items():
            if len(tickets) > 1 or not self._brief(tickets[0].chunk):
                continue
            ticket = queue.take()
            if ticket is None:
                return
            if not self._brief(ticket.chunk):
                queue.give_back(ticket)
                return
            try:
                pipe.send(ticket.chunk)
                tickets.append(ticket)
            except OSError:  # it died, as reading its answer will tell
                queue.give_back(ticket)
                return

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        with _main_out_of_sight():
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self._build, os.getpid()))
            process.start()
            theirs.close()
        self._workers[ours] = process
        return ours

    def _instead_of(
        self, pipe: Connection, queue: ChunkQueue[Any], tickets: Sequence[Ticket[Any]]
    ) -> Connection:
        """A new worker for one that died in the first of its chunks; they go back to the queue."""
        process = self._workers.pop(pipe)
        pipe.close()
        process.join(5)
        how = f"with status {process.exitcode}"
        _log.warning("a worker process ended %s; its chunk is played again", how)
        for waiting in tickets[1:]:
            queue.give_back(waiting)
        queue.died(tickets[0], how)
        return self._start()

    def _end(self, pipes: Iterable[Connection]) -> None:
        """Ends workers.  One that is still busy is killed."""
        chosen = {pipe: self._workers.pop(pipe) for pipe in list(pipes) if pipe in self._workers}
        for pipe in chosen:
            with suppress(OSError):
                pipe.close()
        deadline = time.monotonic() + _END_SECONDS
        for process in chosen.values():
            process.join(max(deadline - time.monotonic(), 0))
            if process.is_alive():
                process.kill()
                process.join()

    def close(self) -> None:
        """Ends the workers.  A worker that is still busy is killed."""
        self._end(self._workers)
