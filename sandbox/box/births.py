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
from typing import NamedTuple

from .children import BURY, FORK, Burial, Children
from .frames import read_exactly
from .limits import BoxBroken
from .unrest import SALT_BYTES

TOKEN_BYTES = 16
HELLO_SECONDS = 50.0
"""How long a child may take until it says hello; a new zygote loads numpy before its first."""

_WORKER = struct.Struct(f"<{TOKEN_BYTES}s?QIi?{SALT_BYTES}s")
_HELLO = struct.Struct(f"<{TOKEN_BYTES}si")
_CREDENTIALS = struct.Struct("=iii")
_DESCRIPTORS = struct.Struct("=iii")
_ROOM = socket.CMSG_SPACE(_DESCRIPTORS.size)
_LARGEST_MESSAGE = 1024
_NO_USER = -1
_KERNEL_TELLS = sys.platform == "linux"
_KIND = socket.SOCK_SEQPACKET if _KERNEL_TELLS else socket.SOCK_DGRAM


class Birth(NamedTuple):
    """What a new process has to know.

    Attributes:
      token: what to say hello with.
      worker: it becomes a worker; otherwise a zygote, and none of the rest means anything.
      memory_bytes: address space.
      cpu_seconds: that it may use; see `Seal.close_in`.
      user: a user number of its own, or -1.
      sealed: with the system call filter.
      salt: random bytes that its memory follows from; see `unrest`.
    """

    token: bytes
    worker: bool
    memory_bytes: int
    cpu_seconds: int
    user: int
    sealed: bool
    salt: bytes


def worker_birth(memory_bytes: int, cpu_seconds: int, user: int | None, *, sealed: bool) -> Birth:
    """What a new worker has to know; see `Birth`."""
    token, salt = os.urandom(TOKEN_BYTES), os.urandom(SALT_BYTES)
    user = _NO_USER if user is None else user
    return Birth(token, True, memory_bytes, cpu_seconds, user, sealed, salt)


class Game(NamedTuple):
    """What a new zygote has to know.

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


class Cradle:
    """A zygote's end: where it waits, and where its children are told what to become.

    Args:
      orders: descriptor of the pipe that brings a byte for each child.
      births: the socket that brings the messages.
    """

    def __init__(self, orders: int, births: socket.socket) -> None:
        self._orders, self._births = orders, births
        self._births_number = -1
        self._children = Children()

    def wait(self) -> None:
        """Forks and buries children when it is told to; returns in the children only.

        Ends the process once the referee has closed its end.
        """
        self._children.obey(self._orders, self._births)

    def take(self) -> tuple[Birth, tuple[int, int, int]]:
        """In a child: what it is to become, and the descriptors that came along; says hello.

        For a worker they are its pipes (to read from, to write to) and its /dev/null.
        """
        message, ancillary, _, _ = self._births.recvmsg(_WORKER.size, _ROOM)
        birth = Birth._make(_WORKER.unpack(message))
        pid = 0 if _KERNEL_TELLS else os.getpid()
        self._births.send(_HELLO.pack(birth.token, pid))
        self._births_number = self._births.detach()  # nothing closes it behind our back
        return birth, _DESCRIPTORS.unpack(ancillary[0][2])

    def exchange(self, descriptors: tuple[int, int, int]) -> Game:
        """In a child that becomes a zygote: takes a cradle of its own; returns what to load."""
        os.close(self._orders)
        os.close(self._births_number)
        self._orders, births, book = descriptors
        self._births = socket.socket(fileno=births)
        size = int.from_bytes(read_exactly(book, 4), "little")
        game = Game(**json.loads(read_exactly(book, size)))
        os.close(book)
        return game


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
          descriptors: three that each of them is given; the caller's copies stay open.

        Raises:
          BoxBroken: the zygote does not answer.
        """
        pids: dict[bytes, int] = {}
        try:
            for birth, given in zip(births, descriptors, strict=True):
                socket.send_fds(self._births, [_WORKER.pack(*birth)], list(given))
            os.write(self._orders, FORK * len(births))
            while len(pids) < len(births):
                token, pid = self._hello()
                pids[token] = pid
            return [pids[birth.token] for birth in births]
        except (OSError, KeyError, struct.error) as error:
            raise BoxBroken(f"the zygote does not answer: {error!r}") from error

    def bury(self) -> Burial:
        """Waits until one more of its children has ended.

        Raises:
          BoxBroken: the zygote does not answer.
        """
        try:
            os.write(self._orders, BURY)
            return Burial.parse(self._receive()[0])
        except (OSError, struct.error) as error:
            raise BoxBroken(f"the zygote does not answer: {error!r}") from error

    def _hello(self) -> tuple[bytes, int]:
        message, ancillary = self._receive()
        token, pid = _HELLO.unpack(message)
        for _, _, data in ancillary:
            pid, _, _ = _CREDENTIALS.unpack(data)
        return token, pid

    def _receive(self) -> tuple[bytes, list[tuple[int, int, bytes]]]:
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        message, ancillary, _, _ = self._births.recvmsg(_LARGEST_MESSAGE, room)
        if not message:
            raise BoxBroken("the zygote ended")
        return message, ancillary


def first_zygote() -> Zygote | Cradle:
    """Forks the first zygote; returns its cradle in the new process."""
    ends = _Ends()
    pid = os.fork()
    return ends.zygote(pid) if pid else ends.cradle()


def zygote_of(game: Game, first: Zygote) -> Zygote:
    """Has the first zygote fork one for a game.

    Raises:
      BoxBroken: it does not answer.
    """
    ends = _Ends()
    read, write = os.pipe()
    birth = Birth(os.urandom(TOKEN_BYTES), False, 0, 0, _NO_USER, False, bytes(SALT_BYTES))
    (pid,) = first.bear([birth], [(*ends.far, read)])
    os.close(read)
    text = json.dumps(game._asdict()).encode()
    rest = memoryview(len(text).to_bytes(4, "little") + text)
    try:
        while rest:
            rest = rest[os.write(write, rest) :]
    except OSError as error:
        raise BoxBroken(f"the zygote does not listen: {error}") from error
    finally:
        os.close(write)
    return ends.zygote(pid)


class _Ends:
    """Both ends of what passes between the referee and a zygote."""

    def __init__(self) -> None:
        self._orders, self._to_zygote = os.pipe()
        self._births, self._of_zygote = socket.socketpair(socket.AF_UNIX, _KIND)
        if _KERNEL_TELLS:
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
        return Cradle(self._orders, self._of_zygote)

    def zygote(self, pid: int) -> Zygote:
        """In the referee."""
        os.close(self._orders)
        self._of_zygote.close()
        return Zygote(self._to_zygote, self._births, pid)
