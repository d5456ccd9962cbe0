"""How workers and zygotes come into being.

A zygote waits for a byte, forks, and waits for the next: whatever it forks finds it in the same
state, however many there were before.  The child takes one message from a socket that it shares
with all other children of that zygote, and so learns what it is to become.  Any child may take
any message, because they are all alike.  It says hello with the message's token; the kernel
adds its process number, which the child itself never learns.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import kernel
from .allowance import BoxBroken

TOKEN_BYTES = 16
SALT_BYTES = 32
HELLO_SECONDS = 50.0
"""How long a child may take until it says hello; a new zygote loads numpy before its first."""

_WORKER = struct.Struct(f"<QIi?{SALT_BYTES}s")
_HELLO = struct.Struct(f"<{TOKEN_BYTES}si")
_CREDENTIALS = struct.Struct("=iii")
_LARGEST_MESSAGE = 128 * 1024
_NO_USER = -1
_KIND = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM


@dataclass(frozen=True)
class WorkerBirth:
    """What a new process has to know to become a worker.

    Attributes:
      memory_bytes: address space.
      cpu_seconds: after which the kernel kills it.
      user: a user number of its own, or None.
      sealed: with the system call filter.
      salt: random bytes that shift its memory; see `worker.shift_memory`.
    """

    memory_bytes: int
    cpu_seconds: int
    user: int | None
    sealed: bool
    salt: bytes

    def pack(self) -> bytes:
        user = _NO_USER if self.user is None else self.user
        return b"W" + _WORKER.pack(
            self.memory_bytes, self.cpu_seconds, user, self.sealed, self.salt
        )


@dataclass(frozen=True)
class ZygoteBirth:
    """What a new process has to know to become a zygote of one game's workers.

    Attributes:
      table_name: what to call the game's table module.
      table_source: its text.
      numpy: whether to load numpy.
      site: folder that holds numpy, or None to look where Python looks.
    """

    table_name: str
    table_source: str
    numpy: bool
    site: str | None

    def pack(self) -> bytes:
        return b"Z" + json.dumps(vars(self)).encode()


Birth = WorkerBirth | ZygoteBirth


def _unpack(message: bytes) -> Birth:
    if message[:1] == b"Z":
        return ZygoteBirth(**json.loads(message[1:]))
    memory_bytes, cpu_seconds, user, sealed, salt = _WORKER.unpack(message[1:])
    return WorkerBirth(memory_bytes, cpu_seconds, None if user == _NO_USER else user, sealed, salt)


class Cradle:
    """A zygote's end: where it waits, and where its children are told what to become.

    Args:
      orders: descriptor of the pipe that brings a byte for each child.
      births: descriptor of the socket that brings the messages.
    """

    def __init__(self, orders: int, births: int) -> None:
        self._orders, self._births = orders, births

    def wait(self) -> None:
        """Forks whenever it is told to; returns in the children only.

        Ends the process once the referee has closed its end.
        """
        read, orders, fork = os.read, self._orders, kernel.fork_for_our_parent
        while read(orders, 1):
            if not fork():
                return
        os._exit(0)

    def take(self) -> tuple[Birth, list[int]]:
        """In a child: what it is to become, and the descriptors that came along; says hello."""
        births = socket.socket(fileno=self._births)
        message, descriptors, _, _ = socket.recv_fds(births, _LARGEST_MESSAGE, 3)
        pid = 0 if sys.platform == "linux" else os.getpid()
        births.send(_HELLO.pack(message[:TOKEN_BYTES], pid))
        births.detach()
        return _unpack(message[TOKEN_BYTES:]), list(descriptors)

    def close(self) -> None:
        """For a child that becomes a zygote with a cradle of its own."""
        os.close(self._orders)
        os.close(self._births)


class Zygote:
    """The referee's end of a zygote.

    Attributes:
      pid: its process number.
    """

    def __init__(self, orders: int, births: socket.socket, pid: int) -> None:
        self._orders, self._births = orders, births
        self.pid = pid

    def bear(self, births: Sequence[Birth], descriptors: Sequence[Sequence[int]]) -> list[int]:
        """Has it fork one child for each birth; returns their process numbers.

        Args:
          births: what they are to become.
          descriptors: what each of them is given; the caller's copies stay open.

        Raises:
          BoxBroken: the zygote does not answer.
        """
        tokens = [os.urandom(TOKEN_BYTES) for _ in births]
        pids: dict[bytes, int] = {}
        try:
            for token, birth, given in zip(tokens, births, descriptors, strict=True):
                socket.send_fds(self._births, [token + birth.pack()], list(given))
            os.write(self._orders, bytes(len(births)))
            while len(pids) < len(births):
                token, pid = self._hello()
                pids[token] = pid
            return [pids[token] for token in tokens]
        except (OSError, KeyError) as error:
            raise BoxBroken(f"the zygote does not answer: {error!r}") from error

    def _hello(self) -> tuple[bytes, int]:
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        message, ancillary, _, _ = self._births.recvmsg(_HELLO.size, room)
        if len(message) != _HELLO.size:
            raise BoxBroken("the zygote ended")
        token, pid = _HELLO.unpack(message)
        for _, _, data in ancillary:
            pid, _, _ = _CREDENTIALS.unpack(data)
        return token, pid


def start() -> Zygote | Cradle:
    """Forks the first zygote; returns its cradle in the new process."""
    ends = _Ends()
    pid = os.fork()
    return ends.zygote(pid) if pid else ends.cradle()


def further(zygote: Zygote, birth: ZygoteBirth) -> Zygote:
    """Has a zygote fork another zygote.

    Raises:
      BoxBroken: it does not answer.
    """
    ends = _Ends()
    (pid,) = zygote.bear([birth], [ends.far])
    return ends.zygote(pid)


class _Ends:
    """Both ends of what passes between the referee and a zygote."""

    def __init__(self) -> None:
        self._orders, self._to_zygote = os.pipe()
        self._births, self._of_zygote = socket.socketpair(socket.AF_UNIX, _KIND)
        if sys.platform == "linux":
            self._births.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._births.settimeout(HELLO_SECONDS)

    @property
    def far(self) -> tuple[int, int]:
        """The zygote's descriptors: orders and births."""
        return self._orders, self._of_zygote.fileno()

    def cradle(self) -> Cradle:
        """In the zygote."""
        os.close(self._to_zygote)
        self._births.close()
        return Cradle(self._orders, self._of_zygote.detach())

    def zygote(self, pid: int) -> Zygote:
        """In the referee."""
        os.close(self._orders)
        self._of_zygote.close()
        return Zygote(self._to_zygote, self._births, pid)
