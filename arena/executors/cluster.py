"""Workers on the machines of a Ray cluster.

Each worker is a Ray actor that holds one processor, and a handler with warm sandboxes.  The node
chooses the wall by itself; one that has none refuses code that needs it, and is left aside.  A
chunk whose box broke goes to another node where there is one.  What a machine answers is taken for
true: a cluster is machines of one owner, as the guide says.
"""

from __future__ import annotations

import logging
import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from arena.errors import ClusterUnavailable
from arena.executors.local import LocalExecutor
from arena.executors.protocol import TICK_SECONDS, ChunkQueue, Handler, Ticket
from arena.executors.software import software
from arena.extras import install_command
from sandbox.errors import SandboxRefused, SandboxUnavailable

_log = logging.getLogger(__name__)
NO_WORKER_SECONDS = 60.0
"""After which, without any worker, a cluster is given up; no chunk waits longer for one to come."""
REACHED = 10.0
"""Seconds within which a cluster must be reached."""
NODE_DIED = "its node has died"
"""What Ray says of an actor that ended with its machine: it has one class of error for all ends."""
STILLBORN = 20
"""So many workers in a row that end before they are there, and a cluster is given up."""


class _Worker:
    """Runs in a process of a node, and plays in another one.

    The engine's bots draw from libc's process-wide `random()`, and so do threads of Ray: when a
    node was lost, a bot of another node threw something else than its seed says.  No thread but
    ours is in the process that plays.
    """

    def __init__(self, build: Callable[[], Handler]) -> None:
        # A box that broke is the driver's to know of: it has other nodes for the chunk.
        self._playing = LocalExecutor(build, most=1, again=False)

    def introduce(self) -> tuple[str, str]:
        """Its machine and its software."""
        return socket.gethostname(), software()

    def run(self, chunk: Any) -> tuple[bool, Any]:
        """Whether it went well, and the answer or the error."""
        try:
            self._playing.grow(1)
            (answer,) = self._playing.run(iter([chunk]))
            return True, answer
        except Exception as error:  # noqa: BLE001 - handed to the driver, which raises it
            return False, error

    def close(self) -> None:
        """Ends its process and the sandboxes of that."""
        self._playing.close()


@dataclass(slots=True, eq=False)
class _Actor:
    """A worker as the driver knows it.

    Attributes:
      node: empty until it has introduced itself.
      broke: whether the last box that it had broke.
      asked: when it was asked for, by the monotonic clock.
    """

    handle: Any
    node: str = ""
    broke: bool = False
    asked: float = field(default_factory=time.monotonic)


def _connect(ray: Any, address: str) -> None:
    """Connects this process to a cluster.

    Raises:
      ClusterUnavailable: there is none, or it does not answer.
    """
    try:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if port.isdecimal():  # Ray itself goes on trying for minutes
            socket.create_connection((host, int(port)), timeout=REACHED).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # Ray has no root for what goes wrong here
        raise ClusterUnavailable(
            f"no Ray cluster at {address!r}: {error}\n  start one with `ray start --head`, "
            "and name it with --address HOST:PORT"
        ) from error


def _check_connected(ray: Any, address: str) -> None:
    """Makes sure that the connection which this process has is not to another cluster.

    Raises:
      ClusterUnavailable: it is; ports tell, as a machine has many names.
    """
    connected = ray.get_runtime_context().gcs_address
    port = address.rpartition(":")[2]
    if port.isdecimal() and not address.startswith("ray://") and port != connected.split(":")[-1]:
        raise ClusterUnavailable(
            f"this process is connected to the Ray cluster {connected}, and {address} was asked for"
        )


class RayExecutor:
    """Workers on the machines of a Ray cluster.

    Takes the connection that this process has, or makes one and ends it with `close`.

    Args:
      build: makes a worker's handler; runs in the worker, so it must be picklable.
      address: of the cluster, "auto" for the one that this machine belongs to.
      most: workers at most; 0 for one per processor that the cluster has at the time.

    Raises:
      ClusterUnavailable: there is no cluster, or Ray is not installed.
    """

    def __init__(self, build: Callable[[], Handler], address: str, *, most: int = 0) -> None:
        try:
            import ray
        except ImportError as error:
            raise ClusterUnavailable(
                f"a cluster needs the package ray: {install_command('cluster')}"
            ) from error
        self._ray, self._build, self._most = ray, build, most
        self._connected_here = not ray.is_initialized()
        if self._connected_here:
            _connect(ray, address)
        else:
            _check_connected(ray, address)
        self._kind = ray.remote(num_cpus=1, max_restarts=0)(_Worker)
        self._starting: dict[Any, _Actor] = {}
        self._idle: list[_Actor] = []
        self._without_wall: dict[_Actor, Exception] = {}
        self._busy: dict[Any, tuple[_Actor, Ticket[Any]]] = {}
        self._stillborn = 0

    @property
    def capacity(self) -> int:
        """Processors of the cluster now, or fewer where fewer were asked for."""
        processors = int(self._ray.cluster_resources().get("CPU", 0))
        return max(min(self._most or processors, processors), 1)

    @property
    def size(self) -> int:
        """How many workers were asked for and not lost, those without a wall among them."""
        return len(self._idle) + len(self._starting) + len(self._without_wall)

    def grow(self, count: int) -> None:
        """Asks for workers until there are so many; the cluster starts them when it can."""
        self._kill_busy(self._busy)  # of whoever stopped taking answers, and closed nothing
        for _ in range(max(min(count, self.capacity), 1) - self.size):
            self._start()

    def run(
        self,
        chunks: Iterator[Any],
        more: Callable[[], Any | None] = lambda: None,
        watch: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Runs chunks and yields their answers as they come; see `Executor.run`."""
        queue = ChunkQueue(chunks, more)
        self._busy = busy = dict[Any, tuple[_Actor, Ticket[Any]]]()
        try:
            while True:
                self._hand_out(queue, busy)
                if self._idle and not busy and not queue.waiting:
                    return
                for told in self._wait([*busy, *self._starting], watch):
                    if told in self._starting:
                        self._introduced(told, self._starting.pop(told))
                        continue
                    actor, ticket = busy.pop(told)
                    answered = self._answer(told, actor, ticket, queue)
                    if answered is not None:
                        yield answered[0]
        finally:  # what is still under way would be taken for the answers to later chunks
            self._kill_busy(busy)

    def close(self) -> None:
        """Ends the workers and their sandboxes."""
        self._kill_busy(self._busy)
        everybody = [*self._idle, *self._starting.values(), *self._without_wall]
        with suppress(self._ray.exceptions.RayError):
            closing = [actor.handle.close.remote() for actor in self._idle]
            self._ray.wait(closing, num_returns=len(closing), timeout=2) if closing else None
        for actor in everybody:
            self._kill(actor)
        self._idle, self._starting, self._without_wall = [], {}, {}
        if self._connected_here:
            self._connected_here = False
            self._ray.shutdown()

    def _start(self) -> None:
        actor = _Actor(self._kind.remote(self._build))
        self._starting[actor.handle.introduce.remote()] = actor

    def _hand_out(
        self, queue: ChunkQueue[Any], busy: dict[Any, tuple[_Actor, Ticket[Any]]]
    ) -> None:
        """Gives chunks to idle workers, at first to those whose box did not break.

        The others get none while a chunk that came back can have a better one: a node on which
        every box breaks is free again at once, and would have the same chunk until that is given
        up.
        """
        self._idle.sort(key=lambda actor: actor.broke, reverse=True)
        while self._idle:
            if self._idle[-1].broke and queue.waiting and self._better(busy):
                return
            ticket = queue.take()
            if ticket is None:
                return
            actor = self._idle.pop()
            busy[actor.handle.run.remote(ticket.chunk)] = actor, ticket

    def _better(self, busy: dict[Any, tuple[_Actor, Ticket[Any]]]) -> bool:
        """Whether a worker whose box did not break is busy, or may still come."""
        late = time.monotonic() - NO_WORKER_SECONDS
        return any(not actor.broke for actor, _ in busy.values()) or any(
            actor.asked > late for actor in self._starting.values()
        )

    def _kill_busy(self, busy: dict[Any, tuple[_Actor, Ticket[Any]]]) -> None:
        while busy:
            self._kill(busy.popitem()[1][0])

    def _kill(self, actor: _Actor) -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor.handle)

    def _wait(self, told: list[Any], watch: Callable[[], None]) -> list[Any]:
        """Those that are ready; what `watch` raises passes.

        Nothing where nobody works, nobody came, and one whose box broke is there to go on.

        Raises:
          ClusterUnavailable: nobody works, nobody came, and nobody is there.
        """
        alone = len(told) == len(self._starting)
        until = time.monotonic() + NO_WORKER_SECONDS if alone else math.inf
        ready: list[Any] = []
        while told and not ready and time.monotonic() < until:
            ready = self._ray.wait(told, num_returns=1, timeout=TICK_SECONDS)[0]
            watch()
        if not ready and self._idle:
            return []
        if not ready:
            if self._without_wall:
                raise next(iter(self._without_wall.values()))
            free = self._ray.available_resources().get("CPU", 0)
            raise ClusterUnavailable(
                f"none of {len(told)} workers started within {NO_WORKER_SECONDS:.0f} s; the "
                f"cluster has {free:.0f} processors free: see `ray status`"
            )
        rest = [one for one in told if one not in ready]
        if rest:
            ready += self._ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        return ready

    def _introduced(self, told: Any, actor: _Actor) -> None:
        """Takes a worker that is there, unless its machine would play other matches than ours.

        Raises:
          ClusterUnavailable: it has other software, or cannot load ours.
        """
        errors = self._ray.exceptions
        try:
            actor.node, theirs = self._ray.get(told)
        except errors.RayActorError as error:
            self._kill(actor)
            self._stillborn += 1
            if error.actor_init_failed or self._stillborn > STILLBORN:
                raise ClusterUnavailable(
                    f"a worker could not be started: {error}\n  install the same version of "
                    "policy-arena on every machine of the cluster"
                ) from error
            self._start()
            return
        except errors.RayError as error:
            raise ClusterUnavailable(f"a worker could not be started: {error}") from error
        if theirs != software():
            self._kill(actor)
            raise ClusterUnavailable(
                f"{actor.node} has other software, so its matches would not be ours\n"
                f"  there: {theirs}\n  here:  {software()}"
            )
        self._stillborn = 0
        self._idle.append(actor)

    def _answer(
        self, told: Any, actor: _Actor, ticket: Ticket[Any], queue: ChunkQueue[Any]
    ) -> tuple[Any] | None:
        """What a worker came to; None where somebody else has to do its chunk."""
        try:
            good, answer = self._ray.get(told)
        except self._ray.exceptions.RayTaskError as error:  # an error that no pickle can hold
            self._kill(actor)
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            self._kill(actor)
            self._start()
            _log.warning("a worker on %s was lost; its chunk is played again", actor.node)
            if NODE_DIED in str(error):  # which says nothing about the chunk
                queue.give_back(ticket)
            else:
                queue.died(ticket, f"on {actor.node}: {type(error).__name__}")
            return None
        if good:
            actor.broke = False
            self._idle.append(actor)
            return (answer,)
        if isinstance(answer, SandboxRefused):
            self._leave_aside(actor, answer)
            queue.give_back(ticket)
            return None
        self._idle.append(actor)
        if isinstance(answer, SandboxUnavailable):
            actor.broke = True
            queue.broke(ticket, answer, f" on {actor.node}")
            return None
        raise answer

    def _leave_aside(self, actor: _Actor, refusal: SandboxRefused) -> None:
        """Keeps a worker whose machine has no wall that works from being asked again.

        It holds its processor, so that no other worker is started there.
        """
        _log.warning("%s plays nothing more, its sandbox does not work: %s", actor.node, refusal)
        self._without_wall[actor] = refusal
