"""Worker processes: each builds a handler once and then runs one job at a time.

Processes, not threads: native bots share one random stream per process, and OpenSpiel holds the
interpreter's lock.  A worker dies with its parent, however the parent ends.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from arena.errors import WorkerDied

JobT = TypeVar("JobT")
AnswerT = TypeVar("AnswerT")
_PR_SET_PDEATHSIG = 1


class Handler(Protocol):
    """What a worker builds once and keeps."""

    def run(self, job: Any) -> Any: ...

    def close(self) -> None: ...


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
            job = pipe.recv()
            try:
                handler = handler or build()
                answer: tuple[bool, Any] = (True, handler.run(job))
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


class WorkerPool(Generic[JobT, AnswerT]):
    """Worker processes, none at first.

    Args:
      build: makes a worker's handler; runs in the worker, so it must be picklable.
    """

    def __init__(self, build: Callable[[], Handler]) -> None:
        self._build = build
        self._workers: dict[Connection, Any] = {}

    def grow(self, count: int) -> None:
        """Starts workers until there are so many, at least one."""
        context = multiprocessing.get_context("spawn")
        with _main_out_of_sight():
            while len(self._workers) < max(count, 1):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, self._build, os.getpid()))
                process.start()
                theirs.close()
                self._workers[ours] = process

    def run(
        self, jobs: Iterator[JobT], more: Callable[[], JobT | None] = lambda: None
    ) -> Iterator[AnswerT]:
        """Runs jobs and yields their answers as they come, in no particular order.

        Args:
          jobs: taken lazily, one whenever a worker is free.
          more: asked when a worker is free, before `jobs`: work that came up on the way.

        Raises:
          WorkerDied: a worker process ended in the middle of a job.
          Exception: whatever a job raised.
        """
        idle = list(self._workers)
        busy: set[Connection] = set()
        while True:
            while idle:
                job = more() or next(jobs, None)
                if job is None:
                    break
                pipe = idle.pop()
                try:
                    pipe.send(job)
                except OSError as error:
                    raise self._died(pipe) from error
                busy.add(pipe)
            if not busy:
                return
            ready = set(multiprocessing.connection.wait(list(busy)))
            for pipe in [pipe for pipe in busy if pipe in ready]:
                busy.remove(pipe)
                yield self._answer(pipe)
                idle.append(pipe)

    def _answer(self, pipe: Connection) -> AnswerT:
        try:
            good, answer = pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died(pipe) from error
        if not good:
            raise answer
        result: AnswerT = answer
        return result

    def _died(self, pipe: Connection) -> WorkerDied:
        process = self._workers[pipe]
        process.join(5)
        return WorkerDied(
            f"a worker process ended with status {process.exitcode} in the middle of its job; "
            "nothing of that job was stored, run the same command again to go on"
        )

    def close(self) -> None:
        """Ends the workers.  A worker that is still busy is killed."""
        for pipe in self._workers:
            with suppress(OSError):
                pipe.close()
        for process in self._workers.values():
            process.join(2)
            if process.is_alive():
                process.kill()
                process.join()
        self._workers.clear()

    def __enter__(self) -> WorkerPool[JobT, AnswerT]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
