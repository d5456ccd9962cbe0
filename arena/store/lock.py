"""The advisory lock that every access to the store takes.

DuckDB lets one process write, and nobody read meanwhile; several processes that open and close
the file with retries lose rows that were acknowledged (seen with 2.0.0).  So the order of access
is ours: `flock` on a side file, exclusive to write and shared to read.

A stream of overlapping readers would keep a writer out for ever, therefore there is a second side
file, the turnstile: everybody passes through it on the way to the lock, and a writer stands in it
until the readers before him are gone.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arena.store import files
from arena.store.errors import StoreBusy, StoreUnwritable

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""For side files: they are neither inherited, nor links, nor waited for."""


class StoreLock:
    """Shared and exclusive access to one store, among processes and threads.

    Locks end with the process that holds them, also when it is killed.
    """

    def __init__(self, store_path: Path, timeout: float) -> None:
        """`timeout` in seconds is how long an access waits for others."""
        self._lock = store_path.with_name(store_path.name + ".lock")
        self._turnstile = store_path.with_name(store_path.name + ".turn")
        self._timeout = timeout

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Access beside other readers.

        Raises:
          StoreBusy: a writer held the store until the timeout.
        """
        with self._held(fcntl.LOCK_SH):
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Access alone.

        Raises:
          StoreBusy: others held the store until the timeout.
          StoreUnwritable: the folder does not allow it.
        """
        with self._held(fcntl.LOCK_EX):
            yield

    @contextmanager
    def _held(self, mode: int) -> Iterator[None]:
        deadline = time.monotonic() + self._timeout
        with ExitStack() as until_done:
            with ExitStack() as until_inside:
                until_inside.enter_context(self._flock(self._turnstile, mode, deadline))
                until_done.enter_context(self._flock(self._lock, mode, deadline))
            yield

    @contextmanager
    def _flock(self, path: Path, mode: int, deadline: float) -> Iterator[None]:
        descriptor = _open(path, writing=mode == fcntl.LOCK_EX)
        if descriptor is None:
            yield
            return
        try:
            pause = _FIRST_PAUSE
            while not _try_flock(descriptor, mode):
                if time.monotonic() >= deadline:
                    raise StoreBusy(
                        f"waited {self._timeout:g} s for the match store's lock {path}, "
                        f"held by {_holders(descriptor)}; run again when it is done"
                    )
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            yield
        finally:
            # Unlocking by name frees the lock even if a child forked meanwhile has a copy.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _open(path: Path, *, writing: bool) -> int | None:
    """Opens a side file; None where a reader finds none and may not make one.

    Then nobody who writes has been here (a writer makes the file), so there is none to wait for.
    """
    files.is_file(path)  # raises where there is something else, which must not be opened
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
    except FileNotFoundError as error:
        raise StoreUnwritable(f"there is no folder {path.parent} for the match store") from error
    except OSError as error:
        if writing:
            raise StoreUnwritable(
                f"the folder {path.parent} of the match store cannot be written "
                f"({error.strerror}): check its permissions and the disk"
            ) from error
    try:
        return os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnwritable(f"{path} cannot be read ({error.strerror})") from error


def _try_flock(descriptor: int, mode: int) -> bool:
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holders(descriptor: int) -> str:
    """Who holds the lock, as far as the kernel tells (Linux lists flocks by inode)."""
    inode = f":{os.fstat(descriptor).st_ino}"
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return "another process"
    # "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"; those who wait have "->" in front.
    fields = [line.split() for line in lines]
    pids = sorted({int(f[4]) for f in fields if f[1] == "FLOCK" and f[5].endswith(inode)})
    return " and ".join(_describe(pid) for pid in pids if pid > 0) or "another process"


def _describe(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        words = []
    command = " ".join(words).strip()[:80]
    whose = " (this process)" if pid == os.getpid() else ""
    return f"process {pid}{whose}" + (f": {command}" if command else "")
