"""What a sealed worker does: load one program, then answer frame after frame.

It is told nothing but its program, the seeds of its own seats and, tick by tick, what those
seats may see.  A hostile policy can take this loop over; all it gains is the right to choose
its own replies.

What passes on the two pipes, in bytes (all numbers little-endian):

    worker  SEALED, before anything else
    referee u32 length, JSON header, seeds (u64 each), source
    worker  one code an instance: 0 where it is ready
    referee mark (1 to 255), one message an instance  ->  worker: the mark, one reply each
    referee ASK_TEXT, number of an instance           ->  worker: ASK_TEXT, u32 length, UTF-8
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

from .complaints import describe, remember_source
from .frames import IDLE, LOAD_FAILED, NONE, OUT_OF_MEMORY, RAISED
from .instances import FILE_NAME, construct
from .seal import INCOMING, OUTGOING

SEALED = b"sealed"
"""Said before any job is read: from here on, whatever happens is the policy's doing."""
ASK_TEXT = 0
HEADER_LENGTH = struct.Struct("<I")
TEXT_HEADER = struct.Struct("<BI")


def _read_exactly(read: Callable[[int, int], bytes], size: int) -> bytes:
    parts = []
    while size > 0:
        part = read(INCOMING, size)
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _receive_job(read: Callable[[int, int], bytes]) -> tuple[dict[str, Any], tuple[int, ...], str]:
    (length,) = HEADER_LENGTH.unpack(_read_exactly(read, HEADER_LENGTH.size))
    header = json.loads(_read_exactly(read, length))
    body = _read_exactly(read, header["bytes"])
    count = header["instances"]
    seeds = struct.unpack_from(f"<{count}Q", body)
    return header, seeds, body[8 * count :].decode("utf-8", "surrogatepass")


class _Program:
    """The instances of one program, and what went wrong with them."""

    def __init__(self, seat_class: Any, header: dict[str, Any], seeds: tuple[int, ...]) -> None:
        self.seat_class = seat_class
        self.header = header
        self.seeds = seeds
        self.replies: list[Callable[[bytes], int]] = []
        self.errors: dict[int, BaseException] = {}

    def load(self, source: str) -> bytes:
        """Loads every instance; one code each, 0 for those that are ready."""
        codes = bytearray()
        class_name = self.header["class_name"]
        methods = [(name, count) for name, count in self.header["methods"]]
        code = None
        for index, seed in enumerate(self.seeds):
            try:
                if code is None:
                    code = compile(source, FILE_NAME, "exec", dont_inherit=True)
                policy = construct(code, seed, class_name, methods)
                self.replies.append(self.seat_class(policy).reply)
                codes.append(0)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the policy's
                fault = OUT_OF_MEMORY if isinstance(error, MemoryError) else LOAD_FAILED
                self.errors[index] = error
                self.replies.append(lambda message, fault=fault: fault)  # type: ignore[misc]
                codes.append(fault)
                if not index:  # the same source would fail the same way, and might take as long
                    missing = len(self.seeds) - 1
                    self.replies += [self.replies[0]] * missing
                    self.errors.update(dict.fromkeys(range(1, len(self.seeds)), error))
                    return bytes([fault]) * len(self.seeds)
        return bytes(codes)

    def text(self, index: int) -> str:
        error = self.errors.get(index)
        return describe(error, self.header["message_chars"]) if error is not None else ""


def _answers(program: _Program, message_bytes: int) -> Callable[[bytes], list[int]]:
    """The function from all messages of a tick to all replies."""
    singles = [bytes((value,)) for value in range(256)]
    numbered = list(enumerate(program.replies))
    errors = program.errors

    def failed(index: int, error: BaseException) -> int:
        errors.setdefault(index, error)
        return OUT_OF_MEMORY if isinstance(error, MemoryError) else RAISED

    def answer_bytes(messages: bytes) -> list[int]:
        replies: list[int] = []
        add = replies.append
        for (index, reply), message in zip(numbered, messages):  # noqa: B905 - same length
            if message == IDLE:
                add(NONE)
                continue
            try:
                add(reply(singles[message]))
            except BaseException as error:  # noqa: BLE001 - a policy may raise anything
                add(failed(index, error))
        return replies

    def answer_longer(messages: bytes) -> list[int]:
        replies: list[int] = []
        add = replies.append
        at = 0
        for index, reply in numbered:
            end = at + message_bytes
            if messages[at] == IDLE:
                add(NONE)
            else:
                try:
                    add(reply(messages[at:end]))
                except BaseException as error:  # noqa: BLE001 - a policy may raise anything
                    add(failed(index, error))
            at = end
        return replies

    return answer_bytes if message_bytes == 1 else answer_longer


def serve(table: Any) -> None:
    """Runs in the sealed process until the channel closes.

    Args:
      table: the game's table module.
    """
    read, write, leave, exactly = os.read, os.write, os._exit, _read_exactly
    write(OUTGOING, SEALED)
    header, seeds, source = _receive_job(read)
    sys.path.clear()
    remember_source(source)
    program = _Program(table.Seat, header, seeds)
    write(OUTGOING, program.load(source))
    answers = _answers(program, table.MESSAGE_BYTES)
    size = len(seeds) * table.MESSAGE_BYTES + 1
    to_bytes = bytes
    while True:
        frame = read(INCOMING, size)
        if len(frame) < size:
            if not frame:
                leave(0)
            frame += exactly(read, size - len(frame))
        if frame[0] == ASK_TEXT:
            text = program.text(int.from_bytes(frame[1:], "little"))
            encoded = text.encode("utf-8", "backslashreplace")
            write(OUTGOING, TEXT_HEADER.pack(ASK_TEXT, len(encoded)) + encoded)
        else:
            write(OUTGOING, frame[:1] + to_bytes(answers(frame[1:])))
