"""How long an answer is waited for: until nobody wants it any more.

Who waits for a busy server does so in a thread of its own, below much that knows nothing of it; who
wants the answer is the thread that began it.  What ends the waits is therefore a scope of the
thread that waits, and not an argument of everything between the two.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOOK_SECONDS = 0.5
"""How long who waits for Ctrl-C too sleeps at once: one that comes just before does not wake it."""

_END: ContextVar[threading.Event | None] = ContextVar("end", default=None)


@contextmanager
def wanted_until(end: threading.Event) -> Iterator[None]:
    """What this thread does in here is wanted until the event is set."""
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def is_wanted() -> bool:
    """Whether anybody still wants what this thread does."""
    end = _END.get()
    return end is None or not end.is_set()


def want_no_more() -> None:
    """Ends the waits of all threads in the scope of this one, if it is in any."""
    end = _END.get()
    if end is not None:
        end.set()


def pause(seconds: float) -> None:
    """Waits that long, or until nobody wants what this thread does."""
    end = _END.get()
    if end is None:
        time.sleep(seconds)
    else:
        end.wait(seconds)
