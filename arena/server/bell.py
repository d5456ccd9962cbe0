"""Wakes requests that wait for what another thread does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from fastapi.concurrency import run_in_threadpool


async def aside(work: Callable[..., Any], *arguments: Any) -> Any:
    """Runs what may take a while beside the loop that answers everybody."""
    return await run_in_threadpool(work, *arguments)


def of_account(name: str) -> str:
    """The key by which an account's streams wait; no id of a job.  "" for those of operators."""
    return f"@{name}"


class Bell:
    """Wakes requests that wait.  Rung by the job runner's thread.

    A key is the id of a job, or `of_account` of whoever is to be told something.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}
        self.closed = False

    def ring(self, key: str) -> None:
        """Wakes whoever waits for this."""
        with self._lock:
            waiting = list(self._waiting.get(key, ()))
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    def close(self) -> None:
        """Lets nobody wait any more: the server stops, and whoever waits is answered as it is."""
        self.closed = True
        with self._lock:
            keys = list(self._waiting)
        for key in keys:
            self.ring(key)

    async def heard(self, key: str, over: Callable[[], bool], seconds: float) -> None:
        """Returns when what is waited for has changed so that it is over, or after some seconds."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.setdefault(key, set()).add(entry)
        try:
            deadline = time.monotonic() + seconds
            while not await aside(over) and not self.closed:
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                try:
                    await asyncio.wait_for(event.wait(), left)
                except TimeoutError:
                    return
                event.clear()
        finally:
            with self._lock:
                self._waiting[key].discard(entry)
                if not self._waiting[key]:
                    del self._waiting[key]
