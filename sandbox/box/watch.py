"""Holds workers to their time while the referee waits for them.

The referee's loop reads with plain blocking calls, which is what makes a tick cheap.  A thread
looks at it twenty times a second: which worker is it waiting for, since when, and what has that
worker done meanwhile?  A worker that is over a limit is killed, so that the read returns; the
verdict is kept on the worker.

Entrants are charged for processor time, not for time on the wall, so a busy machine forfeits
nobody.  Time that a worker neither computed nor wanted to is idle time, which is limited too.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from . import clocks
from .box_memory import BoxMemory
from .frames import OUT_OF_MEMORY, STALLED, TIMED_OUT
from .hired import Worker
from .limits import Limits, WorkerFault

SLICE = 0.05
"""Seconds between two looks."""
AUDIT_EVERY = 4
"""Looks between two audits of workers that nobody is waiting for."""
IDLE_CALLS = 10
"""A call may idle this many times as long as it may compute."""
LAST_WORDS_SECONDS = 20.0
"""How long a killed worker may take to end; after that the kernel below is broken."""


class _Call:
    """One wait of the referee that has lasted for more than a moment."""

    def __init__(self, worker: Worker, steps: int, crowd: Callable[[Worker], float]) -> None:
        self.worker = worker
        self.waited = 0.0
        self.since_verdict = 0.0
        self.cpu_before = clocks.cpu_seconds(worker.pid) or 0.0
        self.cpu_asked = self.cpu_before
        if worker.given is not None:
            self.cpu_asked = worker.given
        elif worker.asked is not None and worker.asked[0] == steps:
            self.cpu_asked = worker.asked[1]
        self.starved_before = clocks.starved_seconds(worker.pid)
        self.crowd_before = crowd(worker) if self.starved_before is None else 0.0


class Watch:
    """The thread that watches one referee.

    The referee sets `waiting` (the worker and the processor seconds of this call) before it
    reads, counts `steps` up whenever it may wait for the same worker again, and sets `waiting`
    to None when it does not wait for workers.

    Args:
      pulse: called while the referee is making progress or is being watched.
      memory: of all workers together.
    """

    def __init__(self, pulse: Callable[[], None], memory: BoxMemory) -> None:
        self.waiting: tuple[Worker, float] | None = None
        self.steps = 0
        self._pulse = pulse
        self._memory = memory
        self._lock = threading.Lock()
        self._workers: Sequence[Worker] = ()
        self._limits: Limits | None = None
        self._charged = False
        threading.Thread(target=self._run, daemon=True).start()

    def guard(self, workers: Sequence[Worker], limits: Limits | None, *, charged: bool) -> None:
        """From now on watches these workers; none where `limits` is None.

        Args:
          workers: whom.
          limits: what each of their instances may use.
          charged: they are held to the box's memory, too.
        """
        with self._lock:
            self._workers, self._limits, self._charged = workers, limits, charged

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Touches no worker meanwhile: whoever ends may have its process number given away."""
        with self._lock:
            yield

    def _run(self) -> None:
        seen: tuple[object, int] = (None, -1)
        looks, call = 0, None
        before = time.perf_counter()
        while True:
            time.sleep(SLICE)
            now = time.perf_counter()
            # A box that was stopped as a whole wakes up late; nobody is charged for that.
            elapsed, before = min(now - before, 2 * SLICE), now
            waiting, steps = self.waiting, self.steps
            looks += 1
            if self._charged and (looks % AUDIT_EVERY == 0 or self._memory.tight):
                self._audit_memory()
            stuck, seen = seen == (waiting, steps), (waiting, steps)
            if waiting is None and stuck:
                continue
            # The host gives up a box that falls silent: one whose killed workers do not end.
            if call is None or call.since_verdict < LAST_WORDS_SECONDS:
                self._pulse()
            with self._lock:
                if self._limits is None:
                    continue
                if waiting is not None:
                    waiting[0].waited += elapsed
                call = (
                    None
                    if waiting is None or not stuck
                    else self._look(call, waiting, steps, elapsed)
                )
                if looks % AUDIT_EVERY == 0:
                    for worker in self._workers:
                        self._audit(worker)

    def _look(
        self, call: _Call | None, waiting: tuple[Worker, float], steps: int, elapsed: float
    ) -> _Call:
        """Judges a call that goes on; `call` is what was known about it at the last look."""
        worker, limit = waiting
        if call is None or call.worker is not worker:
            self._note_others(worker, steps)
            return _Call(worker, steps, self._crowd)
        call.waited += elapsed
        if worker.verdict is not None:
            call.since_verdict += elapsed
        now = clocks.cpu_seconds(worker.pid) or call.cpu_before
        used, idle_limit = now - call.cpu_before, self._idle_limit(limit)
        if now - call.cpu_asked > limit:
            self._condemn(
                worker, TIMED_OUT, f"one call took more than {limit:g} s of processor time"
            )
        elif call.waited - used > idle_limit:
            starved = self._starved(worker, call.starved_before, call.crowd_before)
            if call.waited - used - starved > idle_limit:
                self._condemn(
                    worker,
                    STALLED,
                    f"one call took more than {idle_limit:g} s in which the policy neither "
                    "answered nor computed",
                )
        else:
            self._audit(worker)
        return call

    def _note_others(self, waited_for: Worker, steps: int) -> None:
        """Notes how far those have computed who were asked in the same step.

        They go on while one is waited for.  Unless that counts, the last one could compute for as
        long as all that are waited for before it together.
        """
        for worker in self._workers:
            known = worker.asked is not None and worker.asked[0] == steps
            if worker.playing and not (known or worker.gone or worker is waited_for):
                used = clocks.steady_seconds(worker.pid)
                worker.asked = None if used is None else (steps, used)

    def _audit_memory(self) -> None:
        """Kills the largest workers while all together hold too much.

        Also when nobody waits for them: they may compute while the host makes up its mind.
        """
        with self._lock:
            for worker, text in self._memory.excess(self._workers):
                self._condemn(worker, OUT_OF_MEMORY, text)

    def _idle_limit(self, cpu_limit: float) -> float:
        assert self._limits is not None
        return min(IDLE_CALLS * cpu_limit, self._limits.match_idle_seconds)

    def _audit(self, worker: Worker) -> None:
        """Judges a worker by what it has used since it was loaded."""
        used = None if worker.gone or not worker.playing else clocks.cpu_seconds(worker.pid)
        if used is None or self._limits is None:
            return
        used -= worker.cpu_before
        limit = self._limits.match_cpu(worker.instances)
        idle_limit = self._limits.match_idle_seconds
        idle = worker.waited - used
        if used > limit:
            text = f"the match took more than {limit:g} s of processor time ({used:.2f} s)"
            self._condemn(worker, TIMED_OUT, text)
        elif idle > idle_limit:
            idle -= self._starved(worker, worker.starved_before, worker.crowd_before)
            if idle > idle_limit:
                self._condemn(
                    worker,
                    STALLED,
                    f"the match took more than {idle_limit:g} s in which the policy neither "
                    "answered nor computed",
                )

    def _condemn(self, worker: Worker, code: int, text: str) -> None:
        if not worker.gone and worker.verdict is None:
            worker.verdict = WorkerFault(code, text)
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    def _starved(self, worker: Worker, before: float | None, crowd_before: float) -> float:
        """How long a worker wanted to run and could not, as far as is known."""
        now = clocks.starved_seconds(worker.pid)
        if now is not None and before is not None:
            return now - before
        return self._crowd(worker) - crowd_before

    def _crowd(self, worker: Worker) -> float:
        """Processor time of the other workers.

        On kernels that do not tell who was starved, these may have held the processors.
        """
        return sum(
            other.cpu_total if other.gone else clocks.cpu_seconds(other.pid) or 0.0
            for other in self._workers
            if other is not worker
        )

    def start_match(self, worker: Worker) -> None:
        """Notes where a loaded worker's clocks stand: its matches begin."""
        worker.cpu_before = clocks.cpu_seconds(worker.pid) or 0.0
        worker.starved_before = clocks.starved_seconds(worker.pid)
        if worker.starved_before is None:
            worker.crowd_before = self._crowd(worker)
        worker.waited = 0.0
        worker.playing = True
