"""What tests of the queue share: policies, waiting, and an arena that follows a script."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from arena import Arena
from arena.enrol import Enrolled
from arena.games import game as game_named
from arena.home import Home
from arena.house.population import default_population
from arena.submission import prepare
from arena.tally import Pair, PlayReport
from dashboards.budgets import PlayingTime
from dashboards.settings import Settings, Submitting
from dashboards.submissions import SubmissionQueue
from dashboards.tickets import Entry, Ticket
from registry.values import PolicyVersion, Submission

TIMEOUT_SECONDS = 120.0
LEDUC = game_named("leduc")
OPPONENTS = len(default_population("leduc").digests)
_CALLER = '''
class RepeatedLeducPokerBot:
    """Calls: {idea}."""

    def restart(self, player_id):
        pass

    def act(self, obs):
        {line}
        return "CALL"

    def receive_outcome(self, obs):
        pass
'''
SLOW = "sum(range(150_000))"
"""A line that takes some milliseconds."""


def source(idea: str = "always", line: str = "pass") -> str:
    """A policy for Leduc that differs in its idea."""
    return _CALLER.format(idea=idea, line=line)


def entry(name: str, idea: str = "", line: str = "pass") -> Entry:
    """The same to be handed in."""
    return Entry("leduc", source(idea or name, line), name)


def wait(condition: Callable[[], bool], timeout: float = TIMEOUT_SECONDS) -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


def until_over(queue: SubmissionQueue, ticket_id: str) -> Ticket:
    """Waits until a submission is over."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        ticket = queue.ticket(ticket_id)
        assert ticket is not None
        if ticket.over:
            return ticket
        time.sleep(0.02)
    raise AssertionError(f"still {ticket}")


def opened(home: Path, budget: PlayingTime | None = None, **limits: Any) -> SubmissionQueue:
    """A queue over a home, behind the process wall, once it is open."""
    options = {"submitting": Submitting.ANY_WALL, "matches": 2, **limits}
    settings = Settings(home, budget=budget or PlayingTime(), **options)
    queue = SubmissionQueue(settings, Arena(home, sandbox="process", workers=1))
    wait(lambda: queue.opening.open is not None)
    assert queue.opening.open, queue.opening.reason
    return queue


class ScriptedArena:
    """Plays nothing: every match takes the seconds that are written for the policy's name.

    The clock stands still but for that.  While `gate` is closed, whoever plays waits at it.
    """

    wall = "scripted"

    def __init__(self, home: Home, match_seconds: Mapping[str, float]) -> None:
        self.home, self._seconds = home, match_seconds
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)
        self.slices: list[str] = []
        self.gate, self.reached = threading.Event(), threading.Event()
        self._names: dict[str, str] = {}
        self._played: dict[Pair, int] = {}

    def now(self) -> datetime:
        """The scripted time."""
        return self.moment

    def _slice(self, name: str, seconds: float) -> None:
        self.slices.append(name)
        self.reached.set()
        assert self.gate.wait(TIMEOUT_SECONDS)
        self.moment += timedelta(seconds=seconds)

    def check(self, source: str, game: object, judge: object = None) -> None:
        """Nothing is wrong with anybody."""
        self._slice("", 1.0)

    def submit(self, source: str, game: Any, name: str, **options: Any) -> Enrolled:
        """Registers without a trial, which takes as long as two matches."""
        prepared = prepare(game, source, name=name, provenance=options["provenance"])
        assert isinstance(prepared, Submission)
        done = self.home.registry.submit(prepared)
        self._names[done.version.digest] = name
        self._slice(name, 2 * self._seconds[name])
        return Enrolled(done.version, done.created, done.credited)

    def play_pairs(self, game: object, wanted: Mapping[Pair, int], **options: Any) -> PlayReport:
        """Plays until the budget is spent, as the real one does."""
        digest = next(iter(wanted))[0]
        seconds, played, left = self._seconds[self._names[digest]], 0, 0
        for pair, matches in wanted.items():
            for _ in range(matches - self._played.get(pair, 0)):
                if played * seconds >= options["processor_seconds"]:
                    left += 1
                    continue
                played += 1
                self._played[pair] = self._played.get(pair, 0) + 1
        self._slice(self._names[digest], played * seconds)
        return PlayReport(played=played, left=left, held_seconds=played * seconds)

    @contextmanager
    def on_behalf_of(self, who: str) -> Iterator[None]:
        """As the real one does."""
        own = self.home
        self.home = own.acting_as(who)
        yield
        self.home = own

    def policy(self, ref: str, game: object = None) -> PolicyVersion:
        """From the registry."""
        return self.home.registry.by_digests([ref])[ref]

    def matches(self, game: object, ref: str | None = None, **options: object) -> list[Any]:
        """None are stored."""
        return []
