"""Functions of ours that look at text nobody vouches for, run where they can do no harm.

CPython's parser and compiler were not made for hostile text: twenty nested `finally` blocks take
gigabytes and a minute, and nothing else in the process runs meanwhile.  So the functions that need
them run in a child process (`limited_child.py`): it is started once and stays warm, and answers
each question in a fresh sealed process with a limit on processor time and memory.

A question and its answer are JSON.  An answer may have been forged by the text that it is about:
the caller validates it.
"""

from __future__ import annotations

import enum
import json
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.box import frames
from sandbox.errors import SandboxUnavailable
from sandbox.limited_child import Reply
from sandbox.process import base_python

_START_SECONDS = 30.0
_SPARE_SECONDS = 15.0
"""How much longer than the child the host waits."""
_END_SECONDS = 3.0
_TRIES = 3
"""A child that somebody kills is started again; what it was asked may not be to blame."""
_SAID_CHARS = 2_000
_NAME = "the limited process that reads untrusted text"
_CANNOT_START = f"{_NAME} cannot be started, and nothing is read without it"
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one question may cost.

    Attributes:
      cpu_seconds: processor time.
      elapsed_seconds: after which a machine that gives it no processor time is called broken.
      memory_mib: address space.
      answer_bytes: of the answer's JSON.
    """

    cpu_seconds: float = 2.0
    elapsed_seconds: float = 60.0
    memory_mib: int = 256
    answer_bytes: int = 1 << 20


class Excess(enum.Enum):
    """Which limit a question exceeded: the text's own fault."""

    TIME = Reply.TOO_LONG
    MEMORY = Reply.TOO_MUCH_MEMORY
    """Memory, or a depth of recursion."""
    CRASH = Reply.CRASHED
    """It crashed the interpreter."""
    ANSWER = Reply.TOO_LARGE


class LimitedCalls:
    """Some functions behind a child process.  Safe for many threads, which wait for each other.

    The child is started by the first call, again by the call after its death, and by each process
    that was forked from this one.  It ends with this process.
    """

    def __init__(
        self, functions: Sequence[str], limits: ChildLimits | None = None, *, folder: Path = _ROOT
    ) -> None:
        """Names the functions; nothing is started yet.

        Args:
          functions: as "module:name"; each takes a value of JSON and returns one.  Their modules
            are imported from `folder`, our own packages and the standard library.
          limits: of each question.
          folder: where else to import from.
        """
        self._functions = list(functions)
        self._limits = limits or ChildLimits()
        self._folder = folder
        self._lock = threading.Lock()
        self._child: _Child | None = None
        forget = weakref.WeakMethod(self._forget)
        os.register_at_fork(after_in_child=lambda: (call := forget()) and call())

    @property
    def pid(self) -> int | None:
        """Process number of the child; None where none runs."""
        return self._child.pid if self._child is not None else None

    def call(self, function: str, question: Any) -> Any:
        """What a function answers, or which limit it exceeded.

        Args:
          function: one of those that were named.
          question: of JSON.

        Returns:
          A value of JSON that must be validated, or an `Excess`.

        Raises:
          SandboxUnavailable: the child cannot be started, broke, or gets no processor time; nothing
            is known about the text.
        """
        kind = self._functions.index(function)
        body = json.dumps(question).encode()
        with self._lock:
            for _ in range(_TRIES):
                reply = self._exchange(kind, body)
                if reply is not None:
                    return self._value(function, *reply)
        raise SandboxUnavailable(
            f"the process that runs {function} was killed {_TRIES} times; does the machine run "
            "out of memory?"
        )

    def close(self) -> None:
        """Ends the child.  Idempotent; the next call starts another."""
        with self._lock:
            self._drop()

    def _exchange(self, kind: int, body: bytes) -> tuple[int, bytes] | None:
        """The child's reply; None where somebody killed it, or its worker."""
        if self._child is None:
            self._child = _Child(self._functions, self._limits, self._folder)
        try:
            reply = self._child.ask(kind, body, self._limits.elapsed_seconds + _SPARE_SECONDS)
        except BaseException:  # Ctrl-C as well: the answer would be taken for the next one's
            self._drop()
            raise
        if reply is None:
            self._drop()
        return None if reply is None or reply[0] == Reply.KILLED else reply

    def _value(self, function: str, kind: int, body: bytes) -> Any:
        if kind == Reply.ANSWER:
            with suppress(ValueError, RecursionError):
                return json.loads(body)
            raise SandboxUnavailable(f"{function} gave an answer that is not JSON")
        if kind in {excess.value for excess in Excess}:
            return Excess(Reply(kind))
        if kind == Reply.STARVED:
            raise SandboxUnavailable(
                f"{function} got less than {self._limits.cpu_seconds:g} s of processor time in "
                f"{self._limits.elapsed_seconds:g} s; the machine is too busy"
            )
        raise SandboxUnavailable(f"{function} broke: {_readable(body)}")

    def _drop(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _forget(self) -> None:
        """In a forked process: the child, and whoever held the lock, are the parent's."""
        self._lock = threading.Lock()
        if self._child is not None:
            self._child.leave()
            self._child = None


class _Child:
    """A running child."""

    def __init__(self, functions: Sequence[str], limits: ChildLimits, folder: Path) -> None:
        options = json.dumps({"functions": functions, **asdict(limits)})
        command = [base_python(), "-s", "-S", "-P", "-m", "sandbox.limited_child", options]
        # Nothing else of our environment: it may hold keys.
        environment = {
            "PYTHONPATH": os.pathsep.join((str(_ROOT), str(folder))),
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
        }
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,  # a Ctrl-C in the terminal is ours to handle
                bufsize=0,
            )
        except OSError as error:
            raise SandboxUnavailable(f"{_CANNOT_START}: {command[0]}: {error}") from error
        assert self._process.stdin and self._process.stdout
        self._to_child = self._process.stdin.fileno()
        self._from_child = self._process.stdout.fileno()
        for descriptor in (self._to_child, self._from_child):
            os.set_blocking(descriptor, False)
        self.pid = self._process.pid
        self.close = weakref.finalize(self, _end, self._process, os.getpid())
        try:
            ready = self._receive(time.monotonic() + _START_SECONDS)
            if ready is None or ready[0] != Reply.READY:
                raise SandboxUnavailable(f"{_CANNOT_START}: {self._last_words()}")
        except BaseException:
            self.close()
            raise

    def ask(self, kind: int, body: bytes, seconds: float) -> tuple[int, bytes] | None:
        """Its reply as (kind, body); None where it was killed.

        Raises:
          SandboxUnavailable: it ended by itself, or says nothing.
        """
        deadline = time.monotonic() + seconds
        rest = memoryview(frames.pack(kind, body))
        while rest:
            self._wait([], [self._to_child], deadline)
            try:
                rest = rest[os.write(self._to_child, rest) :]
            except BlockingIOError:
                continue
            except OSError:
                break  # it has ended
        reply = self._receive(deadline)
        if reply is None and not self._was_killed():
            raise SandboxUnavailable(f"{_NAME} broke: {self._last_words()}")
        return reply

    def _was_killed(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        return self._process.returncode == -signal.SIGKILL

    def leave(self) -> None:
        """Closes this process's copies of the descriptors; the child is somebody else's."""
        self.close.detach()
        self._process.returncode = 0  # else it warns that the child still runs
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _receive(self, deadline: float) -> tuple[int, bytes] | None:
        header = self._read(frames.HEADER.size, deadline)
        if header is None:
            return None
        length, kind = frames.unpack_header(header)
        body = self._read(length, deadline)
        return None if body is None else (kind, body)

    def _read(self, size: int, deadline: float) -> bytes | None:
        found = bytearray()
        while len(found) < size:
            self._wait([self._from_child], [], deadline)
            try:
                part = os.read(self._from_child, size - len(found))
            except BlockingIOError:
                continue
            if not part:
                return None
            found += part
        return bytes(found)

    def _wait(self, reading: list[int], writing: list[int], deadline: float) -> None:
        left = deadline - time.monotonic()
        waiting = select.poll()
        for descriptor in reading:
            waiting.register(descriptor, select.POLLIN)
        for descriptor in writing:
            waiting.register(descriptor, select.POLLOUT)
        if left <= 0 or not waiting.poll(left * 1000):
            raise SandboxUnavailable(f"{_NAME} does not answer")

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        said = self._process.stderr.read() or b""
        return _readable(said)[-_SAID_CHARS:].strip() or "it says nothing"


def _readable(said: bytes) -> str:
    """What is said about a text may quote it: nothing in it steers a terminal."""
    text = said.decode("utf-8", "replace")
    return "".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in text)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Ends a child: it ends by itself when nobody writes to it any more."""
    if os.getpid() != owner:
        return
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stderr is not None:
        process.stderr.close()
