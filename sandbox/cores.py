"""Gives each box of this machine a processor core of its own.

A box is a dozen processes that hand each other a byte at a time.  Waking a process on another
core costs several times what waking one on the same core does: measured, a box that stays on
one core plays 1.7 times the matches.  Boxes of different programs have to share the cores out
among themselves, so each core has a lock file, and its lock goes when the holder does.
"""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


class CoreLease:
    """Holds a core that no other box holds, until it is closed.

    Attributes:
      core: its number, or None where all are taken, or there is no choice.
    """

    def __init__(self) -> None:
        self.core: int | None = None
        self._descriptor: int | None = None
        if sys.platform == "linux":
            cores = sorted(os.sched_getaffinity(0))
            if len(cores) > 1:
                self._take_one_of(cores)

    def _take_one_of(self, cores: list[int]) -> None:
        folder = Path(tempfile.gettempdir())
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        for core in cores:
            with suppress(OSError):
                path = folder / f"policy-arena-{os.getuid()}-core-{core}.lock"
                descriptor = os.open(path, flags, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(descriptor)
                    continue
                self.core, self._descriptor = core, descriptor
                return

    def close(self) -> None:
        """Lets the core go.  Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
