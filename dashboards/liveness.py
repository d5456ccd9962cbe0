"""Whether somebody works on a CSRO run, and when it was last heard of.

A run that was killed stays "unfinished" in its record.  What tells is the lock that every `csro`
command holds while it works: locks end with the process that holds them.  A program of somebody's
own may run the loop without that lock, so what was stored just now counts as well.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from arena.games import game as game_named
from arena.home import Home
from population.members import label_of, name_of
from population.oracles import journal_of
from population.records import RunRecord, RunState
from population.runs import Runs

FRESH_LOOKS = 8
"""Liveness is fresh for as long as so many looks at a live run take."""


class Phase(enum.StrEnum):
    """What a run is doing."""

    WORKING = "working"
    """Somebody works on it."""
    LEFT = "left"
    """It was interrupted or killed, and nobody works on it."""
    STOPPED = "stopped"
    """It stopped itself; its note says why."""
    FINISHED = "finished"
    """Its meta-strategy is registered."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """How an unfinished run stands.

    Attributes:
      working: whether somebody works on it.
      last: when anything of it was stored last, in UTC.
    """

    working: bool
    last: datetime


def phase_of(state: RunState, liveness: Liveness | None) -> Phase:
    """What a run is doing, by its record and, for an unfinished one, how it is doing."""
    if state is RunState.UNFINISHED:
        return Phase.WORKING if liveness is not None and liveness.working else Phase.LEFT
    return Phase.FINISHED if state is RunState.FINISHED else Phase.STOPPED


def ago(seconds: float) -> str:
    """A time span in the largest unit that fits: "12 s", "3 minutes", "5 hours", "2 days"."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(max(seconds, 0.0) // length)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return f"{max(int(seconds), 0)} s"


def liveness_of(home: Home, record: RunRecord, done: int, fresh_seconds: float) -> Liveness:
    """Looks at an unfinished run; changes nothing.

    Args:
      home: where it is.
      record: the run.
      done: how many of its iterations are stored.
      fresh_seconds: what was stored no longer ago means that somebody works, lock or no lock.
    """
    runs = Runs(home.path)
    last = max(_moments(home, runs, record, done + 1))
    age = (datetime.now(UTC) - last).total_seconds()
    return Liveness(age < fresh_seconds or runs.worked_on(record.name), last)


def _moments(home: Home, runs: Runs, record: RunRecord, k: int) -> Iterator[datetime]:
    """When the run began, was gone on with, and stored a candidate, a match or a reply.

    k is the iteration at hand.
    """
    yield record.created
    try:
        opened = runs.lock(record.name).stat().st_mtime
        yield datetime.fromtimestamp(opened, UTC)
    except OSError:
        pass
    game = game_named(record.config.game)
    calls = journal_of(runs, record.name).calls(label_of(k))
    yield from (call.created for call in calls[-1:])
    # The iteration at hand may have stored nothing yet; then the one before is the latest known.
    for place in (k, k - 1):
        candidates = home.registry.find(
            game.name, name=name_of(record.name, place), newest_first=True, limit=1
        )
        for version in candidates:
            yield version.created
            for row in home.store.matches(
                game.name, game.version, of=version.digest, newest_first=True, limit=1
            ):
                yield row.played_at
        if candidates:
            return
