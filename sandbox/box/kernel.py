"""The few things that Linux does and Python has no function for.

Every call holds the interpreter's lock and runs in a process with one thread, so what `clone`
copies is in order.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, NamedTuple

_CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}
_WAITID_NUMBER = {"x86_64": 247, "aarch64": 95}
_CLONE_PARENT_SETTID = 0x00100000
_P_ALL, _WEXITED = 0, 4
_INFO_BYTES = 128
_RECORD = struct.Struct("=iiixxxxiii100xqqqq112x")
"""A `siginfo_t` (signal, error, code, pid, user, status), then a `struct rusage` (user and system
time, each in seconds and microseconds)."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_SET_TSC, _PR_SET_NO_NEW_PRIVS = 26, 38
_PR_TSC_SIGSEGV = 2
_SECCOMP_MODE_FILTER = 2
_PROT_READ, _MAP_PRIVATE, _MAP_FIXED, _MAP_ANONYMOUS = 1, 0x02, 0x10, 0x20


class KernelError(Exception):
    """The kernel refused something that the box cannot do without."""


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


@functools.lru_cache(maxsize=1)
def _library() -> Any:
    """The C library, called without giving up the interpreter's lock."""
    library = ctypes.PyDLL(None, use_errno=True)
    library.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    ]
    return library


def _refused(what: str) -> KernelError:
    return KernelError(f"{what} failed: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, first: int = 0, second: int = 0) -> None:
    """Changes this process; other systems than Linux have nothing of the kind.

    Raises:
      KernelError: the kernel refused.
    """
    if sys.platform != "linux":
        return
    if _library().prctl(option, first, second, 0, 0) != 0:
        raise _refused(f"prctl {option}")


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
        """What `Undertaker.bury` sent."""
        _, _, how, pid, _, status, *used = _RECORD.unpack(record)
        seconds, micros = used[0] + used[2], used[1] + used[3]
        return cls(pid, how == os.CLD_EXITED, status, seconds + micros / 1e6)


class Children:
    """Forks and buries this process's children, and remembers nothing of them.

    A child inherits whatever is in its parent's memory.  It is not to learn how many there were
    before it, or how they fared.  So what the kernel says about a child is written to one place,
    which is wiped.
    """

    def __init__(self) -> None:
        machine = platform.machine() if sys.platform == "linux" else ""
        self._clone, self._waitid = _CLONE_NUMBER.get(machine), _WAITID_NUMBER.get(machine)
        self._record = ctypes.create_string_buffer(_RECORD.size)
        self._number = ctypes.c_int.from_buffer(self._record)
        self._call = _library()["syscall"]
        self._call.restype, self._call.argtypes = None, [ctypes.c_long] * 6

    def fork(self) -> bool:
        """Forks; returns whether this is the child.

        The raw call leaves out everything that Python and the C library do after a fork: they
        would write the child's process number into its memory.  So a child that may not ask for
        it does not know it.

        Raises:
          KernelError: there can be no more processes.
        """
        if self._clone is None:
            return os.fork() == 0
        ctypes.set_errno(0)
        place = ctypes.addressof(self._record)
        self._call(self._clone, _CLONE_PARENT_SETTID | signal.SIGCHLD, 0, place, 0, 0)
        if ctypes.get_errno():
            raise _refused("fork")
        is_parent = bool(self._number)  # no copy is made of it
        self._wipe()
        return not is_parent

    def bury(self, tell: socket.socket) -> None:
        """Waits for the next child that ends, and sends how it ended: see `Burial.parse`.

        Raises:
          KernelError: there is no child.
        """
        if self._waitid is None:
            self._write_record(*os.wait4(-1, 0))
        else:
            ctypes.set_errno(0)
            place = ctypes.addressof(self._record)
            self._call(self._waitid, _P_ALL, 0, place, _WEXITED, place + _INFO_BYTES)
            if ctypes.get_errno():
                raise _refused("waiting for a child")
        tell.send(self._record)
        self._wipe()

    def _wipe(self) -> None:
        ctypes.memset(self._record, 0, _RECORD.size)

    def _write_record(self, pid: int, status: int, used: Any) -> None:
        code = os.waitstatus_to_exitcode(status)
        how = os.CLD_EXITED if code >= 0 else os.CLD_KILLED
        micros = round((used.ru_utime + used.ru_stime) * 1e6)
        _RECORD.pack_into(self._record, 0, 0, 0, how, pid, 0, abs(code), 0, micros, 0, 0)


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def be_opaque() -> None:
    """Nobody without privileges may look into this process."""
    _prctl(_PR_SET_DUMPABLE, 0)


def gain_no_privileges() -> None:
    """Neither this process nor what it forks can ever gain privileges."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


class Filter:
    """A system call filter.

    Args:
      program: array of `struct sock_filter`, 8 bytes each.
    """

    def __init__(self, program: bytes) -> None:
        self._steps = ctypes.create_string_buffer(program, len(program))
        self._program = _FilterProgram(len(program) // 8, ctypes.addressof(self._steps))

    def install(self) -> None:
        """From now on this process makes no call that the filter refuses."""
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(self._program))


def stop_clocks() -> None:
    """Takes the clocks that need no system call from this process and all its descendants.

    The kernel keeps the time in pages that every process may read (`[vvar]`), and code that
    reads them (`[vdso]`), which no filter of system calls sees.  Over those pages come pages of
    zeros, which say that there is no clock to be read; the code then makes the system call.
    The code itself stays: aarch64 returns from signals through it.  The processor's own
    counters are switched off where the kernel can do that.

    Raises:
      KernelError: the pages could not be covered.
    """
    if sys.platform != "linux":
        return
    with open("/proc/self/maps", encoding="ascii") as lines:
        pages = [line.split()[0] for line in lines if "[vvar" in line]
    for page in pages:
        start, end = (int(part, 16) for part in page.split("-"))
        flags = _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_FIXED
        if _library().mmap(start, end - start, _PROT_READ, flags, -1, 0) != start:
            raise _refused("covering the kernel's clock pages")
    with suppress(KernelError):  # not with gVisor, and not on every processor
        _prctl(_PR_SET_TSC, _PR_TSC_SIGSEGV)
