"""Says something once, however often it is noticed."""

from __future__ import annotations

import logging
import threading

from registry.display import shown

_LOG = logging.getLogger(__name__)


class Told:
    """What was said so far, for one model and all its threads."""

    def __init__(self) -> None:
        self._said: set[object] = set()
        self._lock = threading.Lock()

    def once(self, subject: object, text: str) -> None:
        """Logs a warning, unless one on the same subject was logged before."""
        with self._lock:
            if subject in self._said:
                return
            self._said.add(subject)
        _LOG.warning(shown(text))  # it may hold a server's own words
