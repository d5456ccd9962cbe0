"""What an executor is, and how chunks outlive the workers that they are given to.

A chunk of work is a value (the arena's, of matches: `arena.plan.Chunk`), and what comes of it
follows from that value alone.  So a chunk whose worker died is given to another one, and the answer
is the same; each chunk is answered once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from arena.errors import WorkerDied
from sandbox.errors import SandboxUnavailable

_log = logging.getLogger(__name__)
ChunkT = TypeVar("ChunkT")
TICK_SECONDS = 0.25
"""Between two looks whether what is under way is still wanted."""
DEATHS = 3
"""A chunk that as many workers died of is not given to another: it may be what kills them.  Nor is
one whose box broke as often."""
_AGAIN = "nothing of that chunk was stored, run the same command again to go on"


class Handler(Protocol):
    """What a worker builds once and keeps."""

    def run(self, chunk: Any) -> Any: ...

    def close(self) -> None: ...


class Executor(Protocol):
    """Workers that each have a handler and run one chunk at a time; none at first."""

    @property
    def capacity(self) -> int:
        """How many workers it may have at most."""
        ...

    @property
    def size(self) -> int:
        """How many workers it has now."""
        ...

    def grow(self, count: int) -> None:
        """Starts workers until there are so many, at least one and at most `capacity`."""
        ...

    def run(
        self,
        chunks: Iterator[Any],
        more: Callable[[], Any | None] = lambda: None,
        watch: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Runs chunks and yields their answers as they come, in no particular order.

        Whoever stops taking answers loses those that are under way, and nothing else.

        Args:
          chunks: taken lazily, one whenever a worker is free.
          more: asked when a worker is free, before `chunks`: work that came up on the way.
          watch: called every `TICK_SECONDS` and with every answer; what it raises ends what is
            under way, in the middle of chunks.

        Raises:
          WorkerDied: `DEATHS` workers ended in the middle of one chunk, its box broke as often, or
            no worker can be had.
          Exception: whatever a chunk raised.
        """
        ...

    def close(self) -> None:
        """Ends the workers.  Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Workers:
    """How many worker processes play, and where.

    Attributes:
      count: processes; 0 for one per processor, of this machine or of the cluster.
      cluster: address of a Ray cluster, "auto" for the one that this machine belongs to; None for
        processes of this machine.
    """

    count: int = 0
    cluster: str | None = None


@dataclass(slots=True)
class Ticket(Generic[ChunkT]):
    """A chunk, how many workers died of it, and how often its box broke."""

    chunk: ChunkT
    deaths: int = 0
    breaks: int = 0


class ChunkQueue(Generic[ChunkT]):
    """Chunks in the order in which they are given out: those that came back go first.

    Args:
      chunks: taken lazily.
      more: asked before `chunks`.
    """

    def __init__(self, chunks: Iterator[ChunkT], more: Callable[[], ChunkT | None]) -> None:
        self._chunks, self._more = chunks, more
        self._back: list[Ticket[ChunkT]] = []

    @property
    def waiting(self) -> bool:
        """Whether a chunk came back and nobody has it."""
        return bool(self._back)

    def take(self) -> Ticket[ChunkT] | None:
        """The next chunk; None where there is none now."""
        if self._back:
            return self._back.pop()
        chunk = self._more()
        if chunk is None:
            chunk = next(self._chunks, None)
        return None if chunk is None else Ticket(chunk)

    def give_back(self, ticket: Ticket[ChunkT]) -> None:
        """A chunk that nobody has answered, and that is not to blame for it."""
        self._back.append(ticket)

    def died(self, ticket: Ticket[ChunkT], how: str) -> None:
        """A chunk whose worker died.

        Raises:
          WorkerDied: it was the last of `DEATHS`, so the chunk is not given to another.
        """
        ticket.deaths += 1
        if ticket.deaths >= DEATHS:
            raise WorkerDied(
                f"{DEATHS} workers ended in the middle of one chunk, the last one {how}; {_AGAIN}"
            )
        self._back.append(ticket)

    def broke(self, ticket: Ticket[ChunkT], error: SandboxUnavailable, where: str = "") -> None:
        """A chunk whose box broke, though its worker is well: whoever plays it next has a new box.

        Raises:
          WorkerDied: it was the last of `DEATHS` breaks, so the chunk is not played again.
        """
        ticket.breaks += 1
        if ticket.breaks >= DEATHS:
            raise WorkerDied(
                f"in the middle of one chunk its box broke {DEATHS} times; {_AGAIN}\n"
                f"  the last time{where}: {error}"
            ) from error
        _log.warning("a box broke%s; its chunk is played again: %s", where, error)
        self._back.append(ticket)
