"""Gives each box of this machine a processor core of its own.

A box is a dozen processes that hand each other a byte at a time.  Waking a process on another
core costs several times what waking one on the same core does: on a machine with nothing else
to do a box that stays on one core plays 1.7 times the matches, and on a busy one many times.
Boxes of different programs have to share the cores out among themselves, so each core has places,
each with a lock file, and a lock goes when its holder does.  A box takes the core that the fewest
hold.  It must not draw one by chance where all are held: on two cores two busy boxes would share
one half of the time.  Nor may it stay for good where it came late: when others have ended, it may
have more of another core (`CoreLease.is_crowded`).  Boxes are counted whether they are busy or not.
"""

from __future__ import annotations

import fcntl
import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PLACES = 64
"""Boxes of a core that are shared out evenly; those beyond draw theirs."""
_TRIES = 4
"""So often others may be faster at every single core before one is drawn."""


class CoreLease:
    """Holds a core until it is closed.

    Args:
      core: of a box that never computes while this one does, to share it and take no place of
        others; None for another one.

    Attributes:
      core: its number, or None where there is no choice.
      place: its number among those who hold the core, 0 where it was free; None where it has none.
    """

    def __init__(self, core: int | None = None) -> None:
        self.core: int | None = None
        self.place: int | None = None
        self._descriptor: int | None = None
        cores = _cores()
        if len(cores) < 2:
            return
        if core in cores:
            self.core = core
        else:
            self._take_one_of(cores)

    def _take_one_of(self, cores: list[int]) -> None:
        for _ in range(_TRIES):
            held = _held()
            # All that come at once see the same, so who is late at one core goes on to the next.
            for core in sorted(cores, key=lambda one: len(held[one])):
                place = next((one for one in range(_PLACES) if one not in held[core]), None)
                if place is None:
                    continue
                descriptor = _locked(core, place, fcntl.LOCK_EX)
                if descriptor is not None:
                    self.core, self.place, self._descriptor = core, place, descriptor
                    return
        self.core = random.SystemRandom().choice(cores)  # no lock can be had, or hundreds are

    @property
    def is_crowded(self) -> bool:
        """Whether another core is held by so few that this box would have more of it.

        Never for one that has no place: it shares a core that it was told, or drew one.
        """
        if self.place is None or self.core is None:
            return False
        held = _held()
        here = len(held[self.core])
        return any(len(held[core]) + 1 < here for core in _cores() if core != self.core)

    @contextmanager
    def staying(self) -> Iterator[None]:
        """Whatever this thread starts meanwhile stays on the core, if there is one."""
        if self.core is None:
            yield
            return
        before = os.sched_getaffinity(0)
        with suppress(OSError):
            os.sched_setaffinity(0, {self.core})
        try:
            yield
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, before)

    def close(self) -> None:
        """Lets the core go.  Idempotent."""
        if self._descriptor is not None:
            with suppress(OSError):  # a child that was forked has the descriptor too
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None
            self.place = None


def _cores() -> list[int]:
    """Those that this process may use."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []


def _held() -> defaultdict[int, set[int]]:
    """Places of each core that somebody holds, or that cannot be looked at.

    They are looked at with a shared lock, so that who looks does not pass for who holds.
    """
    found: defaultdict[int, set[int]] = defaultdict(set)
    with suppress(OSError):
        for name in os.listdir(_folder()):
            match = re.fullmatch(r"(\d+)-(\d+)\.lock", name)
            if match:
                core, place = map(int, match.groups())
                descriptor = _locked(core, place, fcntl.LOCK_SH)
                if descriptor is None:
                    found[core].add(place)
                else:
                    os.close(descriptor)
    return found


def _locked(core: int, place: int, how: int) -> int | None:
    """A descriptor of a place's file that holds its lock; None where somebody else has it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(_folder() / f"{core}-{place}.lock", flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _folder() -> Path:
    """Where the locks of this user's boxes are.

    Raises:
      OSError: it cannot be made, or is somebody else's.
    """
    folder = Path(tempfile.gettempdir()) / f"policy-arena-{os.getuid()}-cores"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is somebody else's")
    return folder
