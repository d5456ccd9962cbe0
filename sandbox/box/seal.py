"""Seals the calling process: after `Seal.close_in` it computes and talks on one descriptor.

The seal is made of, in this order: a session of its own, two open pipes, resource limits,
an empty root folder and a user of its own (both only where the box runs as root), no new
privileges, and the system call filter.  All of it holds whatever happens in the interpreter
afterwards, native code included.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import platform
import resource
import signal
import sys
import tempfile
from contextlib import suppress
from typing import Any

from .syscalls import CALLS, filter_program

INCOMING, OUTGOING = 3, 4
"""The descriptors that a sealed process keeps, besides /dev/null as 0, 1 and 2."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_CAP_SETGID, _CAP_SETUID, _CAP_SYS_CHROOT = 6, 7, 18
_EMPTY_FOLDERS = ("/var/empty", "/srv", "/mnt", "/media", "/opt", "/home")
_OPEN_FILES = 8
_MOST_FILES = 1 << 20
_STACK_BYTES = 8 * 1024 * 1024


class SealError(Exception):
    """This platform cannot seal a process, or a step of it failed."""


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def why_not() -> str | None:
    """Why this platform cannot seal a process, or None where it can."""
    if sys.platform != "linux":
        return f"there is no seccomp on {sys.platform}"
    if platform.machine() not in CALLS:
        return f"there is no system call table for {platform.machine()}"
    return None


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@functools.lru_cache(maxsize=1)
def _prctl_function() -> Any:
    function = ctypes.CDLL(None, use_errno=True).prctl
    function.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    return function


def _prctl(option: int, first: int = 0, second: int = 0) -> None:
    if _prctl_function()(option, first, second, 0, 0) != 0:
        number = ctypes.get_errno()
        raise SealError(f"prctl {option} failed: {os.strerror(number)}")


def _may(capability: int) -> bool:
    """Whether this process holds a Linux capability."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii") as lines:
        held = next(line for line in lines if line.startswith("CapEff:"))
        return bool(int(held.split()[1], 16) >> capability & 1)
    return False


def first_own_user() -> int | None:
    """The first of 30,000 user numbers that workers may be given; None where there are none."""
    if not (_may(_CAP_SETUID) and _may(_CAP_SETGID)):
        return None
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        mapped = [tuple(int(part) for part in line.split()) for line in lines]
    inside, _, count = mapped[0]
    if inside != 0 or count < 60_000:
        return None  # a user namespace with too few numbers
    # High numbers belong to nobody on any ordinary system.
    return 2_000_000_000 if count > 2_100_000_000 else 20_000


def empty_folder() -> str | None:
    """A folder to which a worker's root can be moved: empty, and not writable by workers."""
    if not _may(_CAP_SYS_CHROOT):
        return None
    with suppress(OSError):
        return tempfile.mkdtemp(prefix="arena-empty-")
    for folder in _EMPTY_FOLDERS:
        with suppress(OSError):
            if not os.listdir(folder):
                return folder
    return None


class Seal:
    """Everything about the seal that can be prepared before a worker is forked.

    Attributes:
      description: which of its parts this box has, for people.
    """

    def __init__(self, *, sealed: bool = True) -> None:
        """Prepares the seal.

        Args:
          sealed: False leaves out the system call filter: for code that the user vouches for.

        Raises:
          SealError: this platform cannot seal.
        """
        problem = why_not()
        if sealed and problem is not None:
            raise SealError(problem)
        self._filter = ctypes.create_string_buffer(
            filter_program(platform.machine()) if sealed else b""
        )
        self._steps = (len(self._filter) - 1) // 8
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._first_user = first_own_user()
        self._root = self._open_root()
        parts = ["rlimits"]
        parts += ["own user"] if self._first_user is not None else []
        parts += ["empty root"] if self._root is not None else []
        parts += ["seccomp"] if sealed else []
        self.description = ", ".join(parts)

    @staticmethod
    def _open_root() -> int | None:
        folder = empty_folder()
        if folder is None:
            return None
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if folder not in _EMPTY_FOLDERS:
            os.rmdir(folder)  # nothing can ever be made in a folder that is gone
        return root

    def close_in(
        self, channel: tuple[int, int], number: int, memory_bytes: int, cpu_seconds: int
    ) -> None:
        """Seals this process for good.

        Args:
          channel: the pipes to keep: to read from, to write to.
          number: the how-manieth worker this is; gives it a user of its own.
          memory_bytes: address space.
          cpu_seconds: after which the kernel kills it; the referee is stricter.

        Raises:
          SealError: a step failed; the process must end at once.
          OSError: likewise.
        """
        parent = os.getppid()
        os.setsid()
        # Should the machine run out of memory, the kernel ends workers first, and not the host.
        with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
        if self._root is not None:
            os.fchdir(self._root)
            os.chroot(".")
        self._keep_only(channel)
        self._limit(memory_bytes, cpu_seconds)
        if self._first_user is not None:
            user = self._first_user + number % 30_000
            with suppress(PermissionError):  # no groups to give up in some containers
                os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        if sys.platform == "linux":
            die_with_parent()  # after the change of user, which clears it
            if os.getppid() != parent:
                os._exit(1)
            _prctl(_PR_SET_DUMPABLE, 0)
            _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if self._steps:
            program = _FilterProgram(self._steps, ctypes.addressof(self._filter))
            _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))

    def _keep_only(self, channel: tuple[int, int]) -> None:
        out_of_the_way = [fcntl.fcntl(end, fcntl.F_DUPFD, OUTGOING + 1) for end in channel]
        for standard in (0, 1, 2):
            os.dup2(self._null, standard)
        for end, number in zip(out_of_the_way, (INCOMING, OUTGOING), strict=True):
            os.dup2(end, number, inheritable=False)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        os.closerange(OUTGOING + 1, soft if 0 < soft < _MOST_FILES else _MOST_FILES)

    @staticmethod
    def _limit(memory_bytes: int, cpu_seconds: int) -> None:
        for name, value in (
            ("RLIMIT_CORE", 0),
            ("RLIMIT_FSIZE", 0),
            ("RLIMIT_NOFILE", _OPEN_FILES),
            ("RLIMIT_CPU", cpu_seconds),
            ("RLIMIT_AS", memory_bytes),
            ("RLIMIT_STACK", _STACK_BYTES),
        ):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(kind, (value, value))
        # The filter allows none of what these count; not every kernel lets one set them.
        for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING"):
            with suppress(OSError, ValueError, AttributeError):
                resource.setrlimit(getattr(resource, name), (0, 0))
