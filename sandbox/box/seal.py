"""Seals the calling process: after `Seal.close_in` it computes and talks on two pipes.

The seal is made of: an empty root folder and a user of its own (both only where the box runs
as root), a session of its own, two open pipes, resource limits, no new privileges, and the
system call filter.  All of it holds whatever happens in the interpreter afterwards, native
code included.  What is the same for all workers is done once, to the zygote that they are
forked from (`Seal.narrow`).
"""

from __future__ import annotations

import fcntl
import os
import platform
import resource
import sys
import tempfile
from contextlib import suppress

from . import kernel
from .syscalls import AUDIT_ARCH, filter_program

INCOMING, OUTGOING = 3, 4
"""The descriptors that a sealed process keeps, besides /dev/null as 0, 1 and 2."""
USERS = 30_000
"""How many user numbers there are for workers."""

_CAP_SETGID, _CAP_SETUID, _CAP_SYS_CHROOT = 6, 7, 18
_EMPTY_FOLDERS = ("/var/empty", "/srv", "/mnt", "/media", "/opt", "/home")
_OPEN_FILES = 8
_ZYGOTES_FILES = 64
_MOST_FILES = 1 << 20
_STACK_BYTES = 8 * 1024 * 1024
_PATIENCE = 10
"""Of the kernel, which counts by ticks: a process that computes between the short turns of others
is charged for all of them.  Beside three tournaments on two cores, 3 of its seconds were 2.0 to
2.2 of processor time, so a limit near what may be used ends who never used it."""
_SAME_FOR_ALL = (
    (resource.RLIMIT_NOFILE, _ZYGOTES_FILES),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_STACK, _STACK_BYTES),
)


class SealError(Exception):
    """This platform cannot seal a process."""


def why_not() -> str | None:
    """Why this platform cannot seal a process, or None where it can."""
    if sys.platform != "linux":
        return f"there is no seccomp on {sys.platform}"
    if platform.machine() not in AUDIT_ARCH:
        return f"there is no system call table for {platform.machine()}"
    return None


def _may(capability: int) -> bool:
    """Whether this process holds a Linux capability."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii") as lines:
        held = next(line for line in lines if line.startswith("CapEff:"))
        return bool(int(held.split()[1], 16) >> capability & 1)
    return False


def first_own_user() -> int | None:
    """The first of `USERS` numbers that workers may be given; None where there are none."""
    if not (_may(_CAP_SETUID) and _may(_CAP_SETGID)):
        return None
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        mapped = [tuple(int(part) for part in line.split()) for line in lines]
    inside, _, count = mapped[0]
    if inside != 0 or count < 2 * USERS:
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
    """Everything about the seal that can be prepared before anything is forked.

    Attributes:
      first_user: see `first_own_user`.
    """

    def __init__(self) -> None:
        self._filter = kernel.Filter(filter_program(platform.machine())) if not why_not() else None
        self.first_user = first_own_user()
        self._root = self._open_root()

    def description(self, *, sealed: bool) -> str:
        """Which of its parts this box has, for people."""
        parts = ["rlimits"]
        parts += ["own user"] if self.first_user is not None else []
        parts += ["empty root"] if self._root is not None else []
        parts += ["seccomp"] if sealed else []
        return ", ".join(parts)

    @staticmethod
    def _open_root() -> int | None:
        folder = empty_folder()
        if folder is None:
            return None
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if folder not in _EMPTY_FOLDERS:
            os.rmdir(folder)  # nothing can ever be made in a folder that is gone
        return root

    def narrow(self) -> None:
        """Does to a zygote what is the same for all its workers; it opens no file any more.

        Raises:
          KernelError, OSError: a step failed.
        """
        # Should the machine run out of memory, the kernel ends workers first, and not the host.
        with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
        if self._root is not None:
            os.fchdir(self._root)
            os.chroot(".")
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        os.closerange(_ZYGOTES_FILES, soft if 0 < soft < _MOST_FILES else _MOST_FILES)
        for kind, value in _SAME_FOR_ALL:
            _lower(kind, value)
        # The filter allows none of what these count; not every kernel lets one set them.
        for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING"):
            with suppress(OSError, ValueError, AttributeError):
                resource.setrlimit(getattr(resource, name), (0, 0))
        kernel.gain_no_privileges()

    def close_in(
        self,
        ends: tuple[int, int, int],
        user: int | None,
        memory_bytes: int,
        cpu_seconds: int,
        *,
        sealed: bool = True,
    ) -> None:
        """Seals this process for good.

        Args:
          ends: the descriptors to keep: of the pipe to read from, of the pipe to write to, and
            of a /dev/null that is no other worker's.
          user: a user number of its own, where there are any.
          memory_bytes: address space.
          cpu_seconds: that it may use, which whoever watches it sees to; the kernel kills it after
            many times that, should nobody watch it any more.
          sealed: False leaves out the system call filter: for code that the user vouches for.

        Raises:
          KernelError, OSError: a step failed; the process must end at once.
        """
        parent = os.getppid()
        os.setsid()
        self._keep_only(ends)
        _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
        _lower(resource.RLIMIT_CPU, _PATIENCE * cpu_seconds)
        _lower(resource.RLIMIT_AS, memory_bytes)
        if user is not None:
            with suppress(PermissionError):  # no groups to give up in some containers
                os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        kernel.die_with_parent()  # after the change of user, which clears it
        if os.getppid() != parent:
            os._exit(1)
        kernel.be_opaque()
        if sealed and self._filter is not None:
            self._filter.install()

    @staticmethod
    def _keep_only(ends: tuple[int, int, int]) -> None:
        incoming, outgoing, null = (fcntl.fcntl(end, fcntl.F_DUPFD, OUTGOING + 1) for end in ends)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        os.dup2(incoming, INCOMING, inheritable=False)
        os.dup2(outgoing, OUTGOING, inheritable=False)
        os.closerange(OUTGOING + 1, _ZYGOTES_FILES)


def _lower(kind: int, value: int) -> None:
    """Sets a limit for good, never above what it is."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))
