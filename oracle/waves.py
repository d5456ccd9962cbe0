"""Drafts that are being written at the same time, while what is written already is played.

Drafts can be had as they come, so that none waits for a slow one to be played; but what comes of a
wave must not depend on which is ready first, so they are judged in the order in which they were
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType

from arena.cancellation import LOOK_SECONDS
from oracle.drafts import Draft

Write = Callable[[Draft], Draft]
"""Writes the program that a draft asks for; may be called from several threads at once."""


class Wave:
    """Some drafts on their way.

    With one worker nothing is written before it is waited for, and then one after the other.

    Attributes:
      drafts: what was asked for.
      coming: what is being written, in the same order; empty with one worker.
    """

    def __init__(
        self,
        drafts: Sequence[Draft],
        write: Write,
        workers: int = 1,
        failed: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        """Begins to write.

        Args:
          drafts: what is asked for.
          write: writes one of them.
          workers: how many are written at the same time.
          failed: told of what ends the wave early, Ctrl-C included, before anything is waited for.
        """
        self.drafts = tuple(drafts)
        self._write = write
        self._failed = failed
        self._pool: ThreadPoolExecutor | None = None
        self.coming: list[Future[Draft]] = []
        if workers > 1 and drafts:
            self._pool = ThreadPoolExecutor(min(workers, len(drafts)), "draft")
            self.coming = [self._pool.submit(write, draft) for draft in drafts]

    def __enter__(self) -> Wave:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._failed(error)
        self.close()

    def close(self) -> None:
        """Begins no other draft, and waits for those that are being written."""
        if self._pool is not None:
            try:
                self._pool.shutdown(cancel_futures=True)
            except BaseException as error:  # Ctrl-C
                self._failed(error)
                raise

    @property
    def written(self) -> bool:
        """Whether all drafts are ready, or need nobody's waiting."""
        return all(future.done() for future in self.coming)

    def early(self) -> Iterator[tuple[Draft, ...]]:
        """The drafts that are ready while others are being written, as they come, in any order.

        Ends as soon as one of them raised, which `results` tells.
        """
        waiting = self.coming
        while waiting:
            wait(waiting, LOOK_SECONDS, return_when=FIRST_COMPLETED)
            ready = [future for future in waiting if future.done()]
            waiting = [future for future in waiting if future not in ready]
            if any(future.exception() is not None for future in ready):
                return
            if ready and waiting:
                yield tuple(future.result() for future in ready)

    def results(self) -> tuple[Draft, ...]:
        """All drafts in the order in which they were asked for, once they are written.

        Raises:
          ModelError, BudgetSpent: as `oracle.values.Writer.write`.
        """
        if self._pool is None:
            return tuple(map(self._write, self.drafts))
        return tuple(map(_result, self.coming))


def _result(future: Future[Draft]) -> Draft:
    while not future.done():
        wait([future], LOOK_SECONDS)
    return future.result()


def first_written(waves: Sequence[Wave]) -> Wave:
    """The first of these waves all of whose drafts are ready; waits until there is one."""
    while True:
        for wave in waves:
            if wave.written:
                return wave
        coming = [future for wave in waves for future in wave.coming if not future.done()]
        wait(coming, LOOK_SECONDS, return_when=FIRST_COMPLETED)
