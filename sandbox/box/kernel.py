"""The few things that Linux does and Python has no function for.

Every call holds the interpreter's lock and runs in a process with one thread, so what `clone`
copies is in order.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
from contextlib import suppress
from typing import Any

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


def system_call() -> Any:
    """The function that makes any system call, of up to five arguments; tells no outcome."""
    call = _library()["syscall"]
    call.restype, call.argtypes = None, [ctypes.c_long] * 6
    return call


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
