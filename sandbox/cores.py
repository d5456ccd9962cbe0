"""Gives each box of this machine a processor core of its own.

A box is a dozen processes that hand each other a byte at a time.  Waking a process on another
core costs several times what waking one on the same core does: on a machine with nothing else
to do a box that stays on one core plays 1.7 times the matches, and on a busy one many times.
Boxes of different programs have to share the cores out among themselves, so each core has places,
each with a lock file, and a lock goes when its holder does.  A box that comes when every core is
taken shares one of those that the fewest hold.  Who comes late must not draw one by chance: the
box that a program tries newcomers in is idle while its workers play, and on two cores its two
workers shared the other one half of the time.  Nor may it stay for good where it came late: when
others have ended, two that share a core can have one each (`CoreLease.is_crowded`).
"""

from __future__ import annotations

import fcntl
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PLACES = 64
"""Boxes of a core that are shared out evenly; those beyond draw theirs."""
_TRIES = 16
"""So often others may be faster before a core is drawn."""


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
            held = {core: _held(core) for core in cores}
            core = min(cores, key=lambda one: len(held[one]))
            free = next((one for one in range(_PLACES) if one not in held[core]), None)
            if free is None:
                break
            with suppress(OSError):
                descriptor = os.open(
                    _lock_file(core, free),
                    os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                    0o600,
                )
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(descriptor)
                    continue
                self.core, self.place, self._descriptor = core, free, descriptor
                return
        self.core = random.SystemRandom().choice(cores)  # no lock can be had, or hundreds are

    @property
    def is_crowded(self) -> bool:
        """Whether another core is held by so few that this box would have more of it."""
        if self.place is None or self.core is None:
            return False
        here = len(_held(self.core))
        return any(len(_held(core)) + 1 < here for core in _cores() if core != self.core)

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
            os.close(self._descriptor)
            self._descriptor = None
            self.place = None


def _cores() -> list[int]:
    """Those that this process may use."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []


def _held(core: int) -> set[int]:
    """Places of a core that somebody holds.

    They are looked at with a shared lock, so that who looks does not pass for who holds.  What
    cannot be looked at is no place to have either.
    """
    found = set()
    for place in range(_PLACES):
        try:
            descriptor = os.open(
                _lock_file(core, place), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
            )
        except FileNotFoundError:
            break  # nobody ever held it, nor one of those after it
        except OSError:
            found.add(place)
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            found.add(place)
        finally:
            os.close(descriptor)
    return found


def _lock_file(core: int, place: int) -> Path:
    return Path(tempfile.gettempdir()) / f"policy-arena-{os.getuid()}-core-{core}-{place}.lock"
