"""SQLite refuses some things at once that would be granted a moment later."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from registry.sqlite_file import while_locked


def test_the_log_is_begun_as_soon_as_nobody_holds_the_file(tmp_path: Path) -> None:
    """A reader's lock is enough for SQLite to refuse a write-ahead log, timeout or not."""
    file = tmp_path / "some.sqlite"
    holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    holder.execute("create table one (x)")
    holder.execute("begin")
    holder.execute("select * from one").fetchall()
    asking = sqlite3.connect(file, timeout=0.0, isolation_level=None)

    def begin() -> None:
        asking.execute("pragma journal_mode = wal").fetchone()

    with pytest.raises(sqlite3.OperationalError, match="locked"):
        while_locked(begin, 0.05)
    threading.Timer(0.3, lambda: holder.execute("commit")).start()
    started = time.monotonic()
    while_locked(begin, 20.0)
    assert time.monotonic() - started >= 0.2
    assert asking.execute("pragma journal_mode").fetchone() == ("wal",)


def test_other_errors_are_raised_at_once(tmp_path: Path) -> None:
    asking = sqlite3.connect(tmp_path / "some.sqlite")
    started = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        while_locked(lambda: asking.execute("select * from none"), 20.0)
    assert time.monotonic() - started < 10.0
