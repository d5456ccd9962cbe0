"""One value of each kind, the newest: what is too large to be kept for a while after it changed."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Newest(Generic[T]):
    """Values by name, each as of its latest key; safe to use from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: defaultdict[Hashable, threading.Lock] = defaultdict(threading.Lock)
        self._found: dict[Hashable, tuple[Hashable, T]] = {}

    def get(self, name: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """The value of this name and key: made where what there is has another key.

        Who asks meanwhile waits.  The old value goes before the new one is made, so that there is
        room for it.
        """
        with self._guard:
            lock = self._locks[name]
        with lock:
            found = self._found.get(name)
            if found is None or found[0] != key:
                found = None
                self._found.pop(name, None)
                found = self._found[name] = (key, make())
            return found[1]
