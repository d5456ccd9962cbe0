"""The bytes between host and referee, and the codes between referee and worker.

A frame is a little-endian u32 (length of the body), one byte (kind) and the body.  Bodies of
most kinds are a document: u32 length of a JSON text, the JSON text, then raw bytes.  The kinds
that pass once a tick carry raw bytes alone.
"""

from __future__ import annotations

import enum
import json
import os
import struct
from typing import Any

VERSION = 3
"""Of this protocol; host and box must agree."""

HEADER = struct.Struct("<IB")
_LENGTH = struct.Struct("<I")
LARGEST_BODY = 256 * 1024 * 1024


class Kind(enum.IntEnum):
    """Kinds of frames: below 16 from the host, above from the box."""

    START = 1
    TABLE = 2
    PLAY = 3
    REPLIES = 4

    READY = 16
    TICK = 17
    OUTCOMES = 18
    ALIVE = 19
    BROKEN = 20


# Messages and replies of the game tables (see arena/games/protocol.py).
IDLE = 254
NONE = 253
MALFORMED = 252
ILLEGAL = 251
RAISED = 250

# Reply codes that only the referee and the worker's own loop use.
TIMED_OUT = 240
STALLED = 241
DIED = 242
BROKE_PROTOCOL = 243
OUT_OF_MEMORY = 244
LOAD_FAILED = 245

FAULT_NAMES = {
    RAISED: "crashed",
    ILLEGAL: "illegal-action",
    MALFORMED: "malformed-action",
    TIMED_OUT: "timed-out",
    STALLED: "stalled",
    DIED: "died",
    BROKE_PROTOCOL: "broke-protocol",
    OUT_OF_MEMORY: "out-of-memory",
    LOAD_FAILED: "load-failed",
}
"""Fault code to the value of `sandbox.values.FaultKind`."""

WORKER_WIDE = frozenset({TIMED_OUT, STALLED, DIED, OUT_OF_MEMORY})
"""What the referee or the kernel ends a whole worker for.  Where several matches share it, that
settles none of them.  Whatever a living worker says or breaks is final."""


class FrameError(Exception):
    """The other side closed, or sent something that is not a frame."""


def pack(kind: int, body: bytes = b"") -> bytes:
    """A whole frame."""
    return HEADER.pack(len(body), kind) + body


def document(value: Any, blob: bytes = b"") -> bytes:
    """A body of JSON and raw bytes."""
    text = json.dumps(value, separators=(",", ":")).encode()
    return _LENGTH.pack(len(text)) + text + blob


def parse_document(body: bytes) -> tuple[Any, bytes]:
    """The inverse of `document`.

    Raises:
      FrameError: the body is not such a document.
    """
    try:
        (length,) = _LENGTH.unpack_from(body)
        end = _LENGTH.size + length
        if end > len(body):
            raise FrameError(f"a document of {length} bytes in a body of {len(body)}")
        return json.loads(body[_LENGTH.size : end]), body[end:]
    except (struct.error, ValueError, RecursionError) as error:
        raise FrameError(f"not a document: {error}") from error


def unpack_header(header: bytes) -> tuple[int, int]:
    """(length of the body, kind).

    Raises:
      FrameError: the length is absurd, so this is no frame.
    """
    length, kind = HEADER.unpack(header)
    if length > LARGEST_BODY:
        raise FrameError(f"a frame of {length} bytes")
    return length, kind


def read_exactly(fd: int, size: int) -> bytes:
    """So many bytes from a blocking descriptor.

    Raises:
      FrameError: the stream ended.
    """
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            raise FrameError("the stream ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(fd: int) -> tuple[int, bytes]:
    """Reads one frame from a blocking descriptor; returns (kind, body).

    Raises:
      FrameError: the stream ended, or what came is no frame.
    """
    length, kind = unpack_header(read_exactly(fd, HEADER.size))
    return kind, read_exactly(fd, length)


def write_frame(fd: int, kind: int, body: bytes = b"") -> None:
    """Writes one frame to a blocking descriptor."""
    rest = memoryview(pack(kind, body))
    while rest:
        rest = rest[os.write(fd, rest) :]
