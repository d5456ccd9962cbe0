"""Gives each box of this machine a processor core of its own.

A box is a dozen processes that hand each other a byte at a time.  Waking a process on another
core costs several times what waking one on the same core does: on a machine with nothing else
to do a box that stays on one core plays 1.7 times the matches, and on a busy one many times.
Boxes of different programs have to share the cores out among themselves, so each core has a
lock file, and its lock goes when the holder does.  A box that comes when all are taken stays on
one that it shares.
"""

from __future__ import annotations

import fcntl
import os
import random
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


class CoreLease:
    """Holds a core until it is closed.

    Attributes:
      core: its number, or None where there is no choice.
      alone: whether no other box holds it.
    """

    def __init__(self) -> None:
        self.core: int | None = None
        self.alone = False
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
                self.core, self.alone, self._descriptor = core, True, descriptor
                return
        self.core = random.SystemRandom().choice(cores)  # spreads those that came too late

    def close(self) -> None:
        """Lets the core go.  Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self.alone = False
