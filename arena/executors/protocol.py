"""What an executor is, and how jobs outlive the workers that they are given to.

A job is a value, and what comes of it follows from that value alone.  So a job whose worker died
is given to another one, and the answer is the same; each job is answered once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from arena.errors import WorkerDied
from sandbox.errors import SandboxUnavailable

_log = logging.getLogger(__name__)
JobT = TypeVar("JobT")
TICK_SECONDS = 0.25
"""Between two looks whether what is under way is still wanted."""
DEATHS = 3
"""A job that as many workers died of is not given to another: it may be what kills them.  Nor is
one whose box broke as often."""
_AGAIN = "nothing of that job was stored, run the same command again to go on"


class Handler(Protocol):
    """What a worker builds once and keeps."""

    def run(self, job: Any) -> Any: ...

    def close(self) -> None: ...


class Executor(Protocol):
    """Workers that each have a handler and run one job at a time; none at first."""

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
        jobs: Iterator[Any],
        more: Callable[[], Any | None] = lambda: None,
        watch: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Runs jobs and yields their answers as they come, in no particular order.

        Whoever stops taking answers loses those that are under way, and nothing else.

        Args:
          jobs: taken lazily, one whenever a worker is free.
          more: asked when a worker is free, before `jobs`: work that came up on the way.
          watch: called every `TICK_SECONDS` and with every answer; what it raises ends what is
            under way, in the middle of jobs.

        Raises:
          WorkerDied: `DEATHS` workers ended in the middle of one job, its box broke as often, or
            no worker can be had.
          Exception: whatever a job raised.
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
class Ticket(Generic[JobT]):
    """A job, how many workers died of it, and how often its box broke."""

    job: JobT
    deaths: int = 0
    breaks: int = 0


class JobQueue(Generic[JobT]):
    """Jobs in the order in which they are given out: those that came back go first.

    Args:
      jobs: taken lazily.
      more: asked before `jobs`.
    """

    def __init__(self, jobs: Iterator[JobT], more: Callable[[], JobT | None]) -> None:
        self._jobs, self._more = jobs, more
        self._back: list[Ticket[JobT]] = []

    @property
    def waiting(self) -> bool:
        """Whether a job came back and nobody has it."""
        return bool(self._back)

    def take(self) -> Ticket[JobT] | None:
        """The next job; None where there is none now."""
        if self._back:
            return self._back.pop()
        job = self._more()
        if job is None:
            job = next(self._jobs, None)
        return None if job is None else Ticket(job)

    def give_back(self, ticket: Ticket[JobT]) -> None:
        """A job that nobody has answered, and that is not to blame for it."""
        self._back.append(ticket)

    def died(self, ticket: Ticket[JobT], how: str) -> None:
        """A job whose worker died.

        Raises:
          WorkerDied: it was the last of `DEATHS`, so the job is not given to another.
        """
        ticket.deaths += 1
        if ticket.deaths >= DEATHS:
            raise WorkerDied(
                f"{DEATHS} workers ended in the middle of one job, the last one {how}; {_AGAIN}"
            )
        self._back.append(ticket)

    def broke(self, ticket: Ticket[JobT], error: SandboxUnavailable, where: str = "") -> None:
        """A job whose box broke, though its worker is well: whoever plays it next has a new box.

        Raises:
          WorkerDied: it was the last of `DEATHS` breaks, so the job is not played again.
        """
        ticket.breaks += 1
        if ticket.breaks >= DEATHS:
            raise WorkerDied(
                f"in the middle of one job its box broke {DEATHS} times; {_AGAIN}\n"
                f"  the last time{where}: {error}"
            ) from error
        _log.warning("a box broke%s; its job is played again: %s", where, error)
        self._back.append(ticket)
