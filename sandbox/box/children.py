"""Forks and buries the children of a zygote, which remembers nothing of them.

A child inherits whatever is in its parent's memory, and is not to learn how many there were
before it, how they fared, or what number it has itself.  So what the kernel says about a child
goes to a few bytes that are wiped, and never becomes a Python object.  The raw system calls
leave out what Python and the C library would note after a fork.

The loop also touches as little memory as it can: after a fork, every page that is written to
has to be copied first.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import socket
import struct
import sys
from typing import Any, NamedTuple

from . import kernel

FORK, BURY = b"F", b"B"
"""Orders to a zygote."""

_CLONE = {"x86_64": 56, "aarch64": 220}
_WAITID = {"x86_64": 247, "aarch64": 95}
_CLONE_PARENT_SETTID, _CLONE_CHILD_SETTID = 0x00100000, 0x01000000
_FLAGS = _CLONE_PARENT_SETTID | _CLONE_CHILD_SETTID | signal.SIGCHLD
_P_ALL, _WEXITED = 0, 4
_INFO_BYTES = 128
_RECORD = struct.Struct("=iiixxxxiii100xqqqq112x")
"""A `siginfo_t` (signal, error, code, pid, user, status), then a `struct rusage` (user and system
time, each in seconds and microseconds)."""


class Burial(NamedTuple):
    """How a child ended.

    Attributes:
      pid: its process number.
      exited: by itself, with `status` as its exit code; otherwise by that signal.
      status: see `exited`.
      cpu_seconds: processor time that it used.
    """

    pid: int
    exited: bool
    status: int
    cpu_seconds: float

    @classmethod
    def parse(cls, record: bytes) -> Burial:
        """What a zygote says of a child that it was told to bury."""
        _, _, how, pid, _, status, *used = _RECORD.unpack(record)
        seconds, micros = used[0] + used[2], used[1] + used[3]
        return cls(pid, how == os.CLD_EXITED, status, seconds + micros / 1e6)


class Children:
    """The children of this process."""

    def __init__(self) -> None:
        machine = platform.machine() if sys.platform == "linux" else ""
        self._call = kernel.system_call()
        self._born, self._own = ctypes.c_int(), ctypes.c_int()
        born, own = ctypes.addressof(self._born), ctypes.addressof(self._own)
        # The last two stand the other way round on some machines.
        pair = (own, 0) if machine == "x86_64" else (0, own)
        self._clone = (_CLONE.get(machine, 0), _FLAGS, 0, born, *pair)
        self._record = ctypes.create_string_buffer(_RECORD.size)
        place = ctypes.addressof(self._record)
        self._wait = (_WAITID.get(machine, 0), _P_ALL, 0, place, _WEXITED, place + _INFO_BYTES)

    def obey(self, orders: int, tell: socket.socket) -> None:
        """Forks and buries, order by order; returns in the children only.

        Ends the process when there are no more orders.

        Args:
          orders: descriptor to read them from.
          tell: where to send how a child ended that was to be buried; see `Burial.parse`.

        Raises:
          KernelError: there can be no more processes, or there is nobody to bury.
        """
        read, call, born, own = os.read, self._call, self._born, self._own
        number, flags, stack, for_parent, fourth, fifth = self._clone
        while order := read(orders, 1):
            if order == BURY:
                self._bury(tell)
                continue
            if number:
                call(number, flags, stack, for_parent, fourth, fifth)
            else:
                born.value = os.fork()
                own.value = not born
            if born:  # in the parent; no copy is made of the number
                born.value = 0
            elif own:
                own.value = 0
                return
            else:
                raise kernel.KernelError("there can be no more processes")
        os._exit(0)

    def _bury(self, tell: socket.socket) -> None:
        if self._wait[0]:
            self._call(*self._wait)
        else:
            self._write_record(*os.wait4(-1, 0))
        if self._record[0] == b"\0" and self._wait[0]:
            raise kernel.KernelError("there is nobody to bury")
        tell.send(self._record)
        ctypes.memset(self._record, 0, _RECORD.size)

    def _write_record(self, pid: int, status: int, used: Any) -> None:
        code = os.waitstatus_to_exitcode(status)
        how = os.CLD_EXITED if code >= 0 else os.CLD_KILLED
        micros = round((used.ru_utime + used.ru_stime) * 1e6)
        _RECORD.pack_into(
            self._record, 0, signal.SIGCHLD, 0, how, pid, 0, abs(code), 0, micros, 0, 0
        )
