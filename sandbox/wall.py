"""What stands between a policy and the host, as the arena sees it."""

from __future__ import annotations

from typing import Protocol

from sandbox.values import Block, ExternalSeats, Outcome


class Wall(Protocol):
    """A warm box behind one kind of wall.  Not safe for use by two threads at once."""

    @property
    def name(self) -> str:
        """Kind and version, stored with each match: "process", "gvisor/20240729.0"."""
        ...

    @property
    def remark(self) -> str:
        """What its user has to know besides, when it is opened; mostly ""."""
        ...

    @property
    def core(self) -> int | None:
        """The processor that its box stays on; None where it stays on none."""
        ...

    @property
    def is_crowded(self) -> bool:
        """Whether a box that is opened instead would have more of a processor; see `CoreLease`."""
        ...

    def play(self, block: Block, external: ExternalSeats | None = None) -> tuple[Outcome, ...]:
        """Plays a block and returns one outcome for each of its matches.

        Raises:
          SandboxUnavailable: the box itself failed; nothing is known about the matches.
        """
        ...

    def close(self) -> None:
        """Ends the box and every process in it.  Idempotent."""
        ...
