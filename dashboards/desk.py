"""The submission desk: takes policies from pages, one after the other, and says how they fare.

One thread does the work for all visitors, through the same functions as `arena submit` and
`arena play`.  What is limited: size, number in an hour, and how many may wait.
"""

from __future__ import annotations

import enum
import itertools
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from arena.errors import ArenaError
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.local import Arena
from arena.rejection import Rejection
from arena.store import StoreError
from dashboards.settings import Settings, Submitting
from registry import MalformedName, RegistryError
from registry.values import PolicyVersion
from sandbox.choose import WallChoice
from sandbox.errors import SandboxError

HOUR_SECONDS = 3_600.0
KEPT = 200
"""Tickets that are remembered."""
ORIGIN = "page"
"""Value of `submitted_through` in the provenance of what came in here."""
_KNOWN = (ArenaError, RegistryError, SandboxError, StoreError)


class Stage(enum.StrEnum):
    """How far a submission has come."""

    WAITING = "waiting"
    CHECKING = "checking"
    PLAYING = "playing"
    DONE = "done"
    REJECTED = "rejected"
    """By the checks or the trial; the policy's own fault."""
    FAILED = "failed"
    """Something of ours broke; the policy may be fine."""


OVER = (Stage.DONE, Stage.REJECTED, Stage.FAILED)


@dataclass(frozen=True, slots=True)
class Ticket:
    """One submission, as it stands.

    Attributes:
      number: of the ticket.
      stage: see `Stage`.
      played: matches played so far.
      wanted: matches to play.
      version: once registered; None when only checks were asked for.
      created: False where the same content had been registered before.
      rejection: why it was not taken in.
      problem: what broke, where something of ours did.
      wall: what it ran behind.
    """

    number: int
    stage: Stage = Stage.WAITING
    played: int = 0
    wanted: int = 0
    version: PolicyVersion | None = None
    created: bool = True
    rejection: Rejection | None = None
    problem: str = ""
    wall: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a visitor hands in.  `keep` is False where only the checks are wanted."""

    game: Game
    name: str
    source: str
    description: str = ""
    keep: bool = True


class Refused(Exception):
    """The desk does not take this now; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Whether the desk is open: None while that is being found out."""

    open: bool | None
    wall: str
    reason: str


class Desk:
    """Takes submissions.  Safe to use from many threads."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts to look which wall works; `clock` counts seconds."""
        self._settings, self._clock = settings, clock
        self._arena = Arena(
            settings.home,
            registry=settings.registry_url,
            sandbox=WallChoice(require_gvisor=settings.submitting is Submitting.GVISOR),
        )
        self._lock = threading.Lock()
        self._tickets: OrderedDict[int, Ticket] = OrderedDict()
        self._numbers = itertools.count(1)
        self._accepted: deque[float] = deque()
        self._queue: queue.SimpleQueue[tuple[int, Entry]] = queue.SimpleQueue()
        self._opening = Opening(None, "", "looking which sandbox works here")
        threading.Thread(target=self._work, daemon=True, name="submission-desk").start()

    @property
    def opening(self) -> Opening:
        """Whether policies are taken, behind which wall, and else why not."""
        return self._opening

    def ticket(self, number: int) -> Ticket | None:
        """How a submission stands; None where it is forgotten."""
        with self._lock:
            return self._tickets.get(number)

    def ahead_of(self, number: int) -> int:
        """How many submissions come before one."""
        with self._lock:
            return sum(
                one.number < number and one.stage not in OVER for one in self._tickets.values()
            )

    def submit(self, entry: Entry) -> int:
        """Takes an entry and returns its ticket's number.

        Raises:
          Refused: the desk is closed, busy, or the author's name is somebody else's.
        """
        if not self._opening.open:
            raise Refused(f"no policies are taken just now: {self._opening.reason}")
        self._check_author(entry)
        with self._lock:
            now = self._clock()
            while self._accepted and now - self._accepted[0] > HOUR_SECONDS:
                self._accepted.popleft()
            if len(self._accepted) >= self._settings.per_hour:
                minutes = (HOUR_SECONDS - (now - self._accepted[0])) / 60
                raise Refused(
                    f"{self._settings.per_hour} submissions an hour are taken, and these are "
                    f"used up; try again in {minutes:.0f} minutes, or run `arena submit` yourself"
                )
            waiting = sum(one.stage not in OVER for one in self._tickets.values())
            if waiting > self._settings.waiting:
                raise Refused(f"{waiting} submissions are being worked on; try again in a minute")
            self._accepted.append(now)
            number = next(self._numbers)
            self._tickets[number] = Ticket(number)
            while len(self._tickets) > KEPT:
                self._tickets.popitem(last=False)
        self._queue.put((number, entry))
        return number

    def _check_author(self, entry: Entry) -> None:
        author = entry.name.partition("/")[0]
        if not entry.keep:
            return
        try:
            self._arena.home.registry.check_author(author)
        except MalformedName as error:
            raise Refused(str(error)) from error
        taken = self._arena.policies(entry.game, author=author)
        if any(one.provenance.get("submitted_through") != ORIGIN for one in taken):
            raise Refused(
                f"the author {author!r} submits from the command line; call yourself otherwise, "
                "or use `arena submit`"
            )

    def _work(self) -> None:
        self._opening = self._look()
        while True:
            number, entry = self._queue.get()
            try:
                self._serve(number, entry)
            except _KNOWN as error:
                self._change(number, stage=Stage.FAILED, problem=str(error))
            except Exception as error:  # noqa: BLE001 - the desk goes on with the next visitor
                self._change(number, stage=Stage.FAILED, problem=f"{type(error).__name__}: {error}")

    def _look(self) -> Opening:
        if self._settings.submitting is Submitting.OFF:
            return Opening(False, "", "the operator has switched submissions off")
        if not self._arena.home.writable:
            return Opening(False, "", "this home is read-only here")
        try:
            return Opening(True, self._arena.wall, "")
        except SandboxError as error:
            return Opening(False, "", str(error))

    def _serve(self, number: int, entry: Entry) -> None:
        self._change(number, stage=Stage.CHECKING, wall=self._arena.wall)
        if not entry.keep:
            failed = self._arena.check(entry.source, entry.game)
            stage = Stage.DONE if failed is None else Stage.REJECTED
            self._change(number, stage=stage, rejection=failed)
            return
        outcome = self._arena.submit(
            entry.source,
            entry.game,
            entry.name,
            description=entry.description,
            provenance={"submitted_through": ORIGIN},
        )
        if isinstance(outcome, Rejection):
            self._change(number, stage=Stage.REJECTED, rejection=outcome)
            return
        self._change(number, version=outcome.version, created=outcome.created)
        self._play(number, entry.game, outcome.version)

    def _play(self, number: int, game: Game, version: PolicyVersion) -> None:
        members = default_population(game.name).digests
        matches = self._settings.matches
        pairs = {(version.digest, other): matches for other in members if other != version.digest}
        self._change(number, stage=Stage.PLAYING, wanted=len(pairs) * matches)
        self._arena.play_pairs(
            game,
            pairs,
            progress=lambda played, total: self._change(number, played=played, wanted=total),
        )
        self._change(number, stage=Stage.DONE)

    def _change(self, number: int, **fields: object) -> None:
        with self._lock:
            if number in self._tickets:
                self._tickets[number] = replace(self._tickets[number], **fields)  # type: ignore[arg-type]
