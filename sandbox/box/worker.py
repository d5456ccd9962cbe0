"""What a sealed worker does: load one program, then answer frame after frame.

It is told nothing but its program, the seeds of its own seats and, tick by tick, what those
seats may see.  A hostile policy can take this loop over; all it gains is the right to choose
its own replies.

What passes on the two pipes, in bytes (all numbers little-endian):

    worker  SEALED, before anything else
    referee u32 length, JSON header, then the body
    to compile: the body is the source
    worker  one code (0 where it compiles), u32 length, the marshalled code or the author's text
    to play: the body is seeds (u64 each), u32 length, source, marshalled code
    worker  one code an instance: 0 where it is ready
    referee mark (1 to 255), one message an instance  ->  worker: the mark, one reply each
    referee ASK_TEXT, number of an instance           ->  worker: ASK_TEXT, u32 length, UTF-8
"""

from __future__ import annotations

import json
import linecache
import marshal
import os
import struct
import sys
import time
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from .frames import IDLE, LOAD_FAILED, NONE, OUT_OF_MEMORY, RAISED
from .instances import FILE_NAME, construct
from .seal import INCOMING, OUTGOING
from .tracebacks import describe, remember_source
from .unrest import SALT_BYTES, unrest
from .world import World

SEALED = b"sealed"
"""Said before any order is read: from here on, whatever happens is the policy's doing."""
ASK_TEXT = 0
LENGTH = struct.Struct("<I")
TEXT_HEADER = struct.Struct("<BI")
"""A code and a length: before texts, and before compiled programs."""


_REAL_CLOCK = time.clock_gettime
"""Before the module was given a virtual clock."""
_CLOCKS = (0, 1, 6)
"""Linux's numbers of the time of day, of the time since the start, and of the latter by ticks."""


def _read_exactly(incoming: int, size: int) -> bytes:
    parts = []
    while size > 0:
        part = os.read(incoming, size)
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _receive_order(incoming: int) -> tuple[dict[str, Any], bytes]:
    (length,) = LENGTH.unpack(_read_exactly(incoming, LENGTH.size))
    header = json.loads(_read_exactly(incoming, length))
    return header, _read_exactly(incoming, header["bytes"])


def _load_code(error: BaseException) -> int:
    return OUT_OF_MEMORY if isinstance(error, MemoryError) else LOAD_FAILED


def compile_program(source: bytes, message_chars: int) -> bytes:
    """The answer to an order to compile; runs nothing of the program."""
    try:
        text = source.decode("utf-8", "surrogatepass")
        code, body = 0, marshal.dumps(compile(text, FILE_NAME, "exec", dont_inherit=True))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the policy's
        code = _load_code(error)
        body = describe(error, message_chars).encode("utf-8", "backslashreplace")
    return TEXT_HEADER.pack(code, len(body)) + body


class _Program:
    """The instances of one program, and what went wrong with them."""

    def __init__(self, seat_class: Any, header: dict[str, Any], seeds: Sequence[int]) -> None:
        self.seat_class = seat_class
        self.header = header
        self.seeds = seeds
        self.replies: list[Callable[[bytes], int]] = []
        self.errors: dict[int, BaseException] = {}

    def load(self, body: bytes, world: World) -> bytes:
        """Loads every instance, the first in this world; one code each, 0 for those ready.

        Args:
          body: u32 length, source, marshalled code.
          world: prepared; the modules themselves are like its clones.
        """
        (length,) = LENGTH.unpack_from(body)
        end = LENGTH.size + length
        remember_source(body[LENGTH.size : end].decode("utf-8", "surrogatepass"))
        if len(self.seeds) > 1:
            world.share()
        codes = bytearray()
        class_name = self.header["class_name"]
        methods = [(name, count) for name, count in self.header["methods"]]
        code = None
        for index, seed in enumerate(self.seeds):
            try:
                if code is None:
                    code = marshal.loads(body[end:])
                world = World() if index else world
                world.begin(seed)
                policy = construct(code, world, class_name, methods)
                self.replies.append(self.seat_class(policy).reply)
                codes.append(0)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the policy's
                fault = _load_code(error)
                self.errors[index] = error
                self.replies.append(lambda message, fault=fault: fault)  # type: ignore[misc]
                codes.append(fault)
                if not index:  # the same source would fail the same way, and might take as long
                    missing = len(self.seeds) - 1
                    self.replies += [self.replies[0]] * missing
                    self.errors.update(dict.fromkeys(range(1, len(self.seeds)), error))
                    return bytes([fault]) * len(self.seeds)
        return bytes(codes)

    def failed(self, index: int, error: BaseException) -> int:
        """Remembers what an instance raised; returns the code for it."""
        self.errors.setdefault(index, error)
        return OUT_OF_MEMORY if isinstance(error, MemoryError) else RAISED

    def text(self, index: int) -> bytes:
        """The answer to ASK_TEXT."""
        error = self.errors.get(index)
        text = describe(error, self.header["message_chars"]) if error is not None else ""
        encoded = text.encode("utf-8", "backslashreplace")
        return TEXT_HEADER.pack(ASK_TEXT, len(encoded)) + encoded


def _answer_one(program: _Program, stir: Callable[[], None]) -> Callable[[bytes], bytes]:
    """The function from one message to one reply, for a worker with one instance."""
    reply, failed = program.replies[0], program.failed
    nothing = bytes((NONE,))
    single = [bytes((value,)) for value in range(256)].__getitem__

    def answer(message: bytes) -> bytes:
        if message[0] == IDLE:
            return nothing
        stir()
        try:
            return single(reply(message))
        except BaseException as error:  # noqa: BLE001 - a policy may raise anything
            return single(failed(0, error))

    return answer


def _answer_all(
    program: _Program, width: int, stir: Callable[[], None]
) -> Callable[[bytes], bytes]:
    """The function from all messages of a tick to all replies."""
    numbered, failed, to_bytes = list(enumerate(program.replies)), program.failed, bytes

    def answer(messages: bytes) -> bytes:
        replies: list[int] = []
        add = replies.append
        at = 0
        stir()
        for index, reply in numbered:
            end = at + width
            if messages[at] == IDLE:
                add(NONE)
            else:
                try:
                    add(reply(messages[at:end]))
                except BaseException as error:  # noqa: BLE001 - a policy may raise anything
                    add(failed(index, error))
            at = end
        return to_bytes(replies)

    return answer


def _clock_that_runs() -> int | None:
    """The number of a clock that tells a sealed process something, if there is one."""
    for clock in _CLOCKS:
        with suppress(OSError):
            if _REAL_CLOCK(clock):
                return clock
    return None


def serve(table: Any, world: World, stir: Callable[[], None], sealed: bool) -> NoReturn:
    """Runs in the sealed process until the channel closes.

    Args:
      table: the game's table module.
      world: of the first instance.
      stir: see `unrest`.
      sealed: there is a seal, so no clock may run.
    """
    running = _clock_that_runs() if sealed else None
    said = SEALED if running is None else f"the seal leaves clock {running}".encode()
    os.write(OUTGOING, said)
    work(table, world, stir, INCOMING, OUTGOING)
    os._exit(0)


def work(table: Any, world: World, stir: Callable[[], None], incoming: int, outgoing: int) -> None:
    """Carries out one order; returns once the pipe to read from is closed."""
    header, body = _receive_order(incoming)
    sys.path.clear()
    if header["task"] == "compile":
        _write_all(outgoing, compile_program(body, header["message_chars"]))
        return
    read, write = os.read, os.write
    count, width = header["instances"], table.MESSAGE_BYTES
    program = _Program(table.Seat, header, struct.unpack_from(f"<{count}Q", body))
    write(outgoing, program.load(body[8 * count :], world))
    answer = _answer_one(program, stir) if count == 1 else _answer_all(program, width, stir)
    size = count * width + 1
    while True:
        frame = read(incoming, size)
        if len(frame) < size:
            if not frame:
                return
            frame += _read_exactly(incoming, size - len(frame))
        if frame[0] == ASK_TEXT:
            _write_all(outgoing, program.text(int.from_bytes(frame[1:], "little")))
        else:
            write(outgoing, frame[:1] + answer(frame[1:]))


def _write_all(outgoing: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(outgoing, rest) :]


class _Rehearsal:
    """A program and a seat for it that fit any game."""

    SOURCE = b"class Policy:\n    def act(self, seen):\n        return seen\n"

    def __init__(self, policy: Any) -> None:
        self.reply = lambda message: policy.act(message[0])


def rehearse(table: Any, world: World) -> None:
    """Does in a zygote what its workers will do first, so that they find it done.

    Python adapts code that runs, and makes what it needs only once.  What is done here is not
    done, and the memory for it not copied, in every worker.
    """
    stage = types.SimpleNamespace(MESSAGE_BYTES=table.MESSAGE_BYTES, Seat=_Rehearsal)
    source = _Rehearsal.SOURCE
    header = {"class_name": "Policy", "methods": [["act", 1]], "message_chars": 9, "instances": 1}
    code = compile_program(source, 9)[TEXT_HEADER.size :]
    played = struct.pack("<Q", 1) + LENGTH.pack(len(source)) + source + code
    ticks = bytes((1, *range(table.MESSAGE_BYTES))) * 20
    for task, body, more in (("compile", source, b""), ("play", played, ticks)) * 10:
        stir = unrest(bytes(range(SALT_BYTES)))
        text = json.dumps({**header, "task": task, "bytes": len(body)}).encode()
        incoming, script = os.pipe()
        scrap, outgoing = os.pipe()
        os.write(script, LENGTH.pack(len(text)) + text + body + more)
        os.close(script)
        work(stage, world, stir, incoming, outgoing)
        for end in (incoming, scrap, outgoing):
            os.close(end)
    sys.modules.pop("policy", None)
    linecache.clearcache()
