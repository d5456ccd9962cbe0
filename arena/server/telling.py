"""What operators are told: one line of JSON for each event, and counters for Prometheus.

No line and no counter has a token, a source or a query in it.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

_OURS = frozenset({"job", "account", "method", "state", "seconds", "status", "path", "address"})
"""Extra fields of a record that are written."""


class JsonLines(logging.Formatter):
    """Log records as JSON, one a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
        }
        told |= {name: vars(record)[name] for name in sorted(_OURS & vars(record).keys())}
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def log_as_json() -> None:
    """Makes this process write its log as JSON on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("arena").setLevel(logging.INFO)


class Requests:
    """Counts requests, and how long they took.  Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()

    def note(self, what: str, status: int, seconds: float) -> None:
        """Adds one."""
        with self._lock:
            self._count[what, status] += 1
            self._seconds[what] += seconds  # type: ignore[assignment]

    def lines(self) -> list[str]:
        """As Prometheus reads them."""
        with self._lock:
            count, seconds = dict(self._count), dict(self._seconds)
        labelled = [
            ({"method": what, "status": str(status)}, number)
            for (what, status), number in sorted(count.items())
        ]
        taken = [({"method": what}, value) for what, value in sorted(seconds.items())]
        return [
            *counter("arena_requests_total", "Requests that were answered.", labelled),
            *counter("arena_request_seconds_total", "Time that they took.", taken),
        ]


def counter(
    name: str,
    about: str,
    values: Iterable[tuple[Mapping[str, str], float]],
    *,
    kind: str = "counter",
) -> list[str]:
    """One metric in Prometheus' text format (version 0.0.4)."""
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    for labels, value in values:
        inside = ",".join(f"{key}={json.dumps(one)}" for key, one in labels.items())
        lines.append(f"{name}{{{inside}}} {value}" if inside else f"{name} {value}")
    return lines
