"""Questions from the referee to a zygote, with descriptors, over a stream socket."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

MOST_DESCRIPTORS = 128
"""In one message; the kernel allows 253."""
_LENGTH = struct.Struct("<I")
_PIECE = 65_536


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a new channel."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def send(channel: socket.socket, value: Any, descriptors: Sequence[int] = ()) -> None:
    """Sends a JSON value.

    Raises:
      OSError: the other end is gone.
    """
    text = json.dumps(value).encode()
    message = _LENGTH.pack(len(text)) + text
    sent = socket.send_fds(channel, [message], list(descriptors))
    channel.sendall(message[sent:])


def receive(channel: socket.socket) -> tuple[Any, list[int]] | None:
    """The next value and its descriptors, or None once the other end is closed."""
    message, descriptors, _, _ = socket.recv_fds(channel, _PIECE, MOST_DESCRIPTORS)
    if not message:
        return None
    while len(message) < _LENGTH.size + _LENGTH.unpack_from(message)[0]:
        more = channel.recv(_PIECE)
        if not more:
            return None
        message += more
    return json.loads(message[_LENGTH.size :]), list(descriptors)
