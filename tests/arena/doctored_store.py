"""An honest store to be changed by hand, and everything that can be asked of it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pytest

from arena.games.protocol import Game
from arena.store import Audit, MatchStore, StoreError, Verdict
from arena.values import Match, Result, Termination

GAME = cast(Game, SimpleNamespace(name="toy", version=1, has_deals=True, pack=bytes, unpack=bytes))
LOW, HIGH, THIRD = "a" * 64, "b" * 64, "c" * 64
SECONDS = 20
"""No question may take longer, whatever the file; an honest one takes a tenth of a second."""


def result(repetition: int, high: str = HIGH) -> Result:
    return Result(
        match=Match("toy", 1, LOW, high, repetition),
        season=1,
        returns=(1.0, -1.0),
        termination=Termination.COMPLETED,
        fault_seat=None,
        fault_message="",
        moves=bytes([repetition % 3]) * 50,
        wall="process/1+lockstep",
        seconds=0.25,
    )


def audit(repetition: int) -> Audit:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    match = Match("toy", 1, LOW, HIGH, repetition)
    return Audit(match, Verdict.SAME, None, None, "", "", "process/1", when)


def honest_store(path: Path) -> MatchStore:
    """20 matches of two pairs, and an audit."""
    store = anew(path)
    store.append(GAME, [result(n, high) for high in (HIGH, THIRD) for n in range(10)])
    store.record_audits([audit(3)])
    return store


def anew(path: Path) -> MatchStore:
    """The store for somebody who never saw it."""
    return MatchStore(path, timeout=5, game_named=lambda name: GAME)


def questions(store: MatchStore) -> Iterator[Callable[[], object]]:
    """Everything that can be asked of a store."""
    yield store.counts
    yield lambda: store.fingerprint("toy", 1)
    yield lambda: store.get(Match("toy", 1, LOW, HIGH, 0).id)
    yield lambda: store.find("")
    yield lambda: store.matches("toy", 1)
    yield lambda: store.pair_stats("toy", 1)
    yield lambda: store.returns_in_id_order("toy", 1)
    yield lambda: store.repetitions("toy", 1, [LOW, HIGH, THIRD], 10)
    yield lambda: store.sharing("toy", 1)
    yield store.audits
    yield lambda: store.audit_counts("toy", 1)
    yield lambda: store.unaudited("toy", 1, 50)
    yield lambda: store.export(store.path.parent / "export")
    yield lambda: store.record_audits([audit(4)])
    yield lambda: store.append(GAME, [result(99)])


def doctor(path: Path, *statements: str) -> None:
    """Changes a store as a stranger with DuckDB at hand could."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def refused(path: Path, kind: type[StoreError], match: str) -> None:
    """Reading and writing are refused with that explanation, in time, and leave the file alone."""
    before = path.read_bytes()
    store = anew(path)
    for ask in (store.counts, lambda: store.append(GAME, [result(99)])):
        started = time.monotonic()
        with pytest.raises(kind, match=match) as told:
            ask()
        assert time.monotonic() - started < SECONDS
        assert str(path) in str(told.value)
    assert path.read_bytes() == before


def in_time(work: Callable[[], None]) -> None:
    """Runs `work` in a forked process, and fails where it fails or takes too long."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(SECONDS)
    hangs = child.is_alive()
    if hangs:
        child.kill()
        child.join()
    assert not hangs, f"it took more than {SECONDS} s"
    assert child.exitcode == 0
