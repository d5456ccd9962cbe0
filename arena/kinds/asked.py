"""Policies whose every move is asked for elsewhere, such as of a language model.

The arena seats them and keeps their matches like any other, but does not know who answers: whoever
opens it hands in what makes their instances (`Asked`).  An answer takes long and many can be waited
for at once, so their matches are played in lockstep, in the process that has the answers, and the
answers of one tick are waited for together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from arena.cancellation import LOOK_SECONDS, wanted_until
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.kinds.protocol import PolicyFactory

KIND = "llm"
"""Kind of the policies that a language model plays."""
MATCHES_A_CALL = 2
"""Matches in lockstep for each answer that may be waited for: the slowest holds up fewer."""


class Asked:
    """Who plays the policies of kind `KIND`.

    Args:
      factory: makes their instances, which may be used by several threads, each by one at a time.
        What an instance raises is our fault, and ends the playing: a policy whose answer cannot be
        used says so by what it plays.
      at_once: answers that are waited for at the same time; at least 1.
    """

    def __init__(self, factory: PolicyFactory, at_once: int) -> None:
        self._factory = factory
        self.at_once = at_once
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    @property
    def matches(self) -> int:
        """How many matches are played in lockstep at most."""
        return MATCHES_A_CALL * self.at_once

    def policy(self, game: Game, payload: str, seed: int) -> Any:
        """A `PolicyFactory`: an instance for one seat of one match."""
        return self._factory(game, payload, seed)

    def together(self, calls: Sequence[Callable[[], int]]) -> list[int]:
        """What some calls answer, waited for at the same time.

        Raises:
          Exception: whatever one of them raised; those that had begun are over by then, and those
            that had not are never made.  Ctrl-C ends their waits (`arena.cancellation`), and so
            does who plays, where an error leaves nothing to wait for.
        """
        with self._lock:
            self._pool = self._pool or ThreadPoolExecutor(self.at_once, "asked")
        failed, ended = threading.Event(), threading.Event()

        def unless_failed(call: Callable[[], int]) -> int:
            if failed.is_set():
                return -1  # nobody reads it: the error is raised
            try:
                with wanted_until(ended):
                    return call()
            except BaseException:
                failed.set()
                raise

        waiting: list[Future[int]] = []
        try:
            waiting += (self._pool.submit(unless_failed, call) for call in calls)
            _await(waiting)
        except BaseException:
            failed.set()
            ended.set()
            raise
        finally:  # also at Ctrl-C: what is under way is paid for, so its answer is kept
            for one in waiting:
                one.cancel()
            wait(waiting)
        errors = (one.exception() for one in waiting if not one.cancelled())
        error = next((found for found in errors if found is not None), None)
        if error is not None:
            raise error
        return [one.result() for one in waiting]

    def close(self) -> None:
        """Ends the threads.  Idempotent."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


def _await(waiting: Sequence[Future[int]]) -> None:
    """Until all are over, or one failed."""
    while True:
        over, left = wait(waiting, timeout=LOOK_SECONDS, return_when=FIRST_EXCEPTION)
        if not left or any(one.exception() is not None for one in over):
            return


def refuse_unanswered(kinds: Iterable[str], asked: Asked | None) -> None:
    """Refuses to seat a policy that nobody here can answer for.

    Raises:
      UsageFault: one of the kinds is `KIND`, and `asked` is None.
    """
    if asked is None and KIND in kinds:
        raise UsageFault(
            "a policy of kind llm is played by asking a language model, which this command does "
            "not do: `csro agent` plays it"
        )
