"""The child behind `sandbox/limited.py`: answers each question in a sealed process of its own.

    host --frames--> child --fork--> sealed worker (one question, then it ends)

The child imports the functions that it is told, and never looks into a question or an answer.
A worker is forked before its question arrives, seals itself (see `box/seal.py`), and only then
reads the question.  So nothing that a text does to the interpreter outlives its own question.

Started as `python -s -S -P -m sandbox.limited_child OPTIONS`, with the options as JSON.
"""

from __future__ import annotations

import enum
import gc
import importlib
import json
import math
import os
import secrets
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.box import frames, seal
from sandbox.box.clocks import cpu_seconds
from sandbox.box.seal import INCOMING, OUTGOING

HOST_IN, HOST_OUT = 0, 1
_OUT_OF_MEMORY = 71
"""Exit code of a worker whose memory, or whose depth of recursion, did not suffice."""
_LOOK_SECONDS = 0.05
_SAID_BYTES = 4_000
"""Of what a worker of ours says about its own end."""


class Reply(enum.IntEnum):
    """Kinds of the frames that go back to the host."""

    READY = 16
    ANSWER = 17
    TOO_LONG = 18
    """It used up its processor time."""
    TOO_MUCH_MEMORY = 19
    """It used up its memory, or what it recursed on was too deep."""
    CRASHED = 20
    """The interpreter itself crashed."""
    TOO_LARGE = 21
    """The answer was too long."""
    KILLED = 22
    """Somebody else ended it: the question says nothing about that."""
    STARVED = 23
    """The machine gave it too little processor time."""
    BROKEN = 24
    """The function raised; the body says what."""


class Worker:
    """One sealed process that waits for one question."""

    def __init__(
        self,
        functions: Sequence[Callable[[Any], Any]],
        close_in: Callable[[tuple[int, int]], None],
    ) -> None:
        """Forks it.

        Args:
          functions: that it may be asked for.
          close_in: seals the calling process, but for the descriptors to read from and write to.
        """
        question, self._to_worker = os.pipe()
        self.answer, answer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                close_in((question, answer))
                _answer_one(functions)
            except (MemoryError, RecursionError):
                os._exit(_OUT_OF_MEMORY)
            except BaseException as error:  # noqa: BLE001 - told as long as anybody listens
                _tell(error, (OUTGOING, answer))
            finally:
                os._exit(1)
        os.close(question)
        os.close(answer)

    def ask(self, kind: int, body: bytes) -> None:
        """Hands the question over; a worker that has ended is found out later."""
        with suppress(BrokenPipeError):
            frames.write_frame(self._to_worker, kind, body)

    def end(self) -> tuple[int, float]:
        """Ends the process; returns (wait status, processor seconds)."""
        for descriptor in (self._to_worker, self.answer):
            os.close(descriptor)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, status, used = os.wait4(self.pid, 0)
        return status, used.ru_utime + used.ru_stime


def _answer_one(functions: Sequence[Callable[[Any], Any]]) -> NoReturn:
    gc.disable()  # it lives for one question, and a syntax tree has no cycles
    number, body = frames.read_frame(INCOMING)
    answer = functions[number](json.loads(body))
    frames.write_frame(OUTGOING, Reply.ANSWER, json.dumps(answer).encode())
    os._exit(0)


def _tell(error: BaseException, descriptors: Sequence[int]) -> None:
    """Says what went wrong and where, on the first descriptor that takes it.

    The lines themselves cannot be read any more.
    """
    told = [f"{type(error).__name__}: {error}"]
    for frame, line in traceback.walk_tb(error.__traceback__):
        told.append(f"{frame.f_code.co_filename}:{line} in {frame.f_code.co_name}")
    said = "\n".join(told).encode("utf-8", "replace")[:_SAID_BYTES]
    for descriptor in descriptors:
        with suppress(OSError):
            frames.write_frame(descriptor, Reply.BROKEN, said)
            return


class Child:
    """Serves the host until it closes its end."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Imports the functions and prepares the seal.

        Args:
          options: "functions" as "module:name"; "cpu_seconds", "elapsed_seconds", "memory_mib" and
            "answer_bytes" as in `sandbox.limited.ChildLimits`.
        """
        self._functions = [_imported(name) for name in options["functions"]]
        self._cpu: float = options["cpu_seconds"]
        self._elapsed: float = options["elapsed_seconds"]
        self._memory = options["memory_mib"] * 2**20
        self._largest: int = options["answer_bytes"]
        self._seal = seal.Seal()

    def serve(self) -> NoReturn:
        """Answers questions, one after the other."""
        gc.collect()
        gc.freeze()  # keeps the collector from touching, and so copying, shared pages
        ready = {"seal": self._seal.description(sealed=seal.why_not() is None)}
        frames.write_frame(HOST_OUT, Reply.READY, frames.document(ready))
        while True:
            worker = Worker(self._functions, self._close_in)
            try:
                kind, body = frames.read_frame(HOST_IN)
            except frames.FrameError:
                worker.end()
                os._exit(0)
            worker.ask(kind, body)
            answer = self._answer_of(worker)
            if answer is not None:
                frames.write_frame(HOST_OUT, Reply.ANSWER, answer)
                worker.end()

    def _close_in(self, ends: tuple[int, int]) -> None:
        user = self._seal.first_user
        if user is not None:
            user += secrets.randbelow(seal.USERS)
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._seal.narrow()
        self._seal.close_in((*ends, null), user, self._memory, math.ceil(self._cpu))

    def _answer_of(self, worker: Worker) -> bytes | None:
        """What the worker answers; None where it does not, and the host was told why."""
        started = time.monotonic()
        wanted = select.poll()
        wanted.register(worker.answer, select.POLLIN)
        wanted.register(HOST_IN, select.POLLIN)
        said = bytearray()
        while True:
            events = wanted.poll(_LOOK_SECONDS * 1000)
            if any(descriptor == HOST_IN for descriptor, _ in events):
                worker.end()
                os._exit(0)  # nothing is asked twice at once: the host is gone
            part = os.read(worker.answer, 1 << 20) if events else b""
            said += part
            if len(said) > self._largest + frames.HEADER.size:
                self._without(worker, Reply.TOO_LARGE)
                return None
            if len(said) >= frames.HEADER.size:
                length, kind = frames.HEADER.unpack_from(said)
                if kind == Reply.ANSWER and length == len(said) - frames.HEADER.size:
                    return bytes(said[frames.HEADER.size :])
            if events and not part:
                self._without(worker, Reply.BROKEN, bytes(said[frames.HEADER.size :]))
                return None
            if (cpu_seconds(worker.pid) or 0.0) > self._cpu:
                self._without(worker, Reply.TOO_LONG)
                return None
            if time.monotonic() - started > self._elapsed:
                self._without(worker, Reply.STARVED)
                return None

    def _without(self, worker: Worker, why: Reply, said: bytes = b"") -> None:
        """Ends a worker that gave no answer, and tells the host why."""
        status, used = worker.end()
        if why is Reply.BROKEN:
            why = self._end_of(status, used)
        frames.write_frame(HOST_OUT, why, said[:_SAID_BYTES])

    def _end_of(self, status: int, used: float) -> Reply:
        """Why a process ended by itself, or by the kernel's hand."""
        if os.WIFEXITED(status):
            memory = os.WEXITSTATUS(status) == _OUT_OF_MEMORY
            return Reply.TOO_MUCH_MEMORY if memory else Reply.BROKEN
        if used > self._cpu:
            return Reply.TOO_LONG
        return Reply.KILLED if os.WTERMSIG(status) == signal.SIGKILL else Reply.CRASHED


def _imported(name: str) -> Callable[[Any], Any]:
    module, _, function = name.partition(":")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return found


if __name__ == "__main__":
    Child(json.loads(sys.argv[1])).serve()
