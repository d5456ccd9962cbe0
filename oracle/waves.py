"""Drafts that are being written at the same time, while what is written already is played.

What comes of a wave does not depend on which of its drafts is ready first: drafts are handed over
in the order in which they were asked for.
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

    def arrivals(self) -> Iterator[tuple[Draft, ...]]:
        """The drafts as they come back, in order: all that are ready by now, at least one.

        Raises:
          ModelError, BudgetSpent: as `oracle.values.Writer.write`.
        """
        if self._pool is None:
            if self.drafts:
                yield tuple(map(self._write, self.drafts))
            return
        place = 0
        while place < len(self.coming):
            while not self.coming[place].done():
                wait(self.coming[place : place + 1], LOOK_SECONDS)
            ready = [self.coming[place].result()]
            while place + len(ready) < len(self.coming):
                following = self.coming[place + len(ready)]
                if not following.done():
                    break
                ready.append(following.result())
            yield tuple(ready)
            place += len(ready)


def first_written(waves: Sequence[Wave]) -> Wave:
    """The first of these waves all of whose drafts are ready; waits until there is one."""
    while True:
        for wave in waves:
            if wave.written:
                return wave
        coming = [future for wave in waves for future in wave.coming if not future.done()]
        wait(coming, LOOK_SECONDS, return_when=FIRST_COMPLETED)
