"""The sandboxes of one worker: when they open, and on which core."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError, SandboxRefused, SandboxUnavailable
from sandbox.wall import Wall

_LOOK_SECONDS = 10.0
"""So seldom a core is looked for that a box would have more of: to open one takes a second."""


@dataclass(slots=True)
class Walls:
    """A wall for matches and another one for audits, on one core, each opened when it is needed.

    Two, as programs can see what all matches in a box have in common; one of them plays at a time.
    """

    _open: dict[bool, Wall] = field(default_factory=dict)
    _had_one: bool = False
    _looked: float = field(default_factory=time.monotonic)

    def opened(self, choice: WallChoice | None, audit: bool) -> Wall:
        """The wall to play behind.

        Raises:
          SandboxRefused: none has ever opened here, so this machine is taken to have none.
          SandboxUnavailable: one has, so one can again.  A machine that is short of memory or
            processes for a moment says so in many ways; a refusal is one of them.
        """
        left = self._leave_a_crowd()
        if audit not in self._open:
            try:
                self._open[audit] = self._new(choice, audit)
            except SandboxUnavailable:
                if not left:
                    raise
                self._open[audit] = self._new(choice, audit)  # one that was well had to go for it
        return self._open[audit]

    def _new(self, choice: WallChoice | None, audit: bool) -> Wall:
        other = self._open.get(not audit)
        try:
            wall = open_wall(choice, other.core if other else None)
        except (SandboxError, OSError) as error:
            kind = SandboxUnavailable if self._had_one else SandboxRefused
            raise kind(str(error)) from error
        self._had_one = True
        return wall

    def close(self) -> None:
        """Ends those that are open.  Idempotent."""
        for wall in self._open.values():
            wall.close()
        self._open = {}

    def _leave_a_crowd(self) -> bool:
        """Ends boxes that share a core since others held the rest, once those have ended.

        Boxes that are opened instead take a core anew.

        Returns:
          Whether any was ended.
        """
        now = time.monotonic()
        if now < self._looked + _LOOK_SECONDS:
            return False
        self._looked = now
        crowded = any(wall.is_crowded for wall in self._open.values())
        if crowded:
            self.close()
        return crowded
