"""The zygotes of a box as the referee sees them: made when they are first wanted."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

from .births import Game, Zygote, worker_birth, zygote_of
from .seal import USERS

AT_ONCE = 32
"""Workers that are on their way at the same time, with three descriptors each."""


class Nursery:
    """Has workers forked, each from the zygote that knows its game.

    Args:
      first: the zygote that all others come from.
      first_user: the first user number that workers may be given, or None; see `seal`.
      site: folder that holds numpy, or None to look where Python looks.
      sealed: workers get the system call filter.
    """

    def __init__(
        self, first: Zygote, first_user: int | None, site: str | None, *, sealed: bool
    ) -> None:
        self._first = first
        self._first_user = first_user
        self._site = site
        self._sealed = sealed
        self._tables: dict[str, str] = {}
        self._zygotes: dict[tuple[str, bool], Zygote] = {}
        self._user_of: dict[int, int] = {}
        self._taken: set[int] = set()

    def learn(self, table: str, source: str) -> None:
        """Takes note of a game's table, for the zygotes that will need it."""
        self._tables[table] = source

    def zygote(self, table: str, *, numpy: bool) -> Zygote:
        """The zygote of a game's workers, with numpy or without."""
        if (table, numpy) not in self._zygotes:
            game = Game(table, self._tables[table], numpy, self._site)
            self._zygotes[table, numpy] = zygote_of(game, self._first)
        return self._zygotes[table, numpy]

    def bear(
        self, zygote: Zygote, pipes: Sequence[tuple[int, int]], memory_bytes: int, cpu_seconds: int
    ) -> list[int]:
        """One worker for each (read, write) pair of descriptors; returns process numbers.

        Each gets a random user number that no other living worker has, and a /dev/null of its
        own: an open file can carry a position from one process to another.
        """
        pids: list[int] = []
        for start in range(0, len(pipes), AT_ONCE):
            some = pipes[start : start + AT_ONCE]
            births = [
                worker_birth(memory_bytes, cpu_seconds, self._user(), sealed=self._sealed)
                for _ in some
            ]
            nulls = [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC) for _ in some]
            given = [(*pair, null) for pair, null in zip(some, nulls, strict=True)]
            born = zygote.bear(births, given)
            for null in nulls:
                os.close(null)
            for pid, birth in zip(born, births, strict=True):
                self._user_of[pid] = birth.user
            pids += born
        return pids

    def buried(self, pid: int) -> None:
        """A worker is gone; its user number may be given away again."""
        self._taken.discard(self._user_of.pop(pid, -1))

    def _user(self) -> int | None:
        if self._first_user is None:
            return None
        while True:
            user = self._first_user + secrets.randbelow(USERS)
            if user not in self._taken:
                self._taken.add(user)
                return user
