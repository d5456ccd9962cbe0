"""The submission queue: takes policies from pages and works on them, slice by slice.

One thread does the work for all visitors, through the arena that the command line uses too.  What
was taken in is on file (`dashboards.tickets`): a server that is started again goes on with it.  Of
several servers of one home one works, and the others take in and show.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from arena.errors import KNOWN
from arena.home import Home
from arena.local import Arena
from dashboards.budgets import Plan, PlayingTime
from dashboards.intake import Intake, Receipt, Refused
from dashboards.settings import Settings, Submitting
from dashboards.slices import Playing, Slices
from dashboards.tickets import Entry, Event, Stage, Ticket, Tickets
from dashboards.turns import in_order
from registry.sqlite_file import held_alone
from sandbox.choose import WallChoice
from sandbox.errors import SandboxError

LOCK = "submissions.lock"
TRIES = 3
"""How often a slice is begun before it is given up."""
REST_SECONDS = 30.0
"""After something of ours broke, before it is tried again."""
LOOK_SECONDS = 2.0
"""Between two looks at what other servers of this home took in."""


class _Held(Exception):
    """Another server of this home works on its submissions."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Whether policies are taken: None while that is being found out."""

    open: bool | None
    wall: str
    reason: str


class PlayingAtHome(Playing, Protocol):
    """What the queue needs of an arena: to play, and the home that it plays for."""

    @property
    def home(self) -> Home: ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SubmissionQueue:
    """Takes submissions and works on them.  Safe to use from many threads.

    Args:
      settings: what the operator decided.
      arena: that plays; by default one of its own.
      now: the time, in UTC.
    """

    def __init__(
        self,
        settings: Settings,
        arena: PlayingAtHome | Arena | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._settings, self._now = settings, now
        wall = WallChoice(require_gvisor=settings.submitting is Submitting.GVISOR)
        self._arena = arena or Arena(
            settings.home,
            registry=settings.registry_url,
            sandbox=wall,
        )
        home = self._arena.home
        self._opening = Opening(None, "", "looking which sandbox works here")
        if not home.writable:
            self._opening = Opening(False, "", "this home is read-only here")
            return
        self._tickets = Tickets(home.path)
        self._intake = Intake(settings, home.registry, self._tickets)
        self._slices = Slices(
            self._arena, home.registry, self._tickets, settings.budget, settings.matches, now
        )
        self._check_next = False
        self._resting: dict[int, float] = {}
        self._at_hand: Ticket | None = None
        self._stopped, self._changed = threading.Event(), threading.Event()
        threading.Thread(target=self._work, daemon=True, name="submissions").start()

    @property
    def opening(self) -> Opening:
        """Whether policies are taken, behind which wall, and else why not."""
        return self._opening

    def submit(self, entry: Entry, token: str = "") -> Receipt:
        """Takes an entry.

        Args:
          entry: what is handed in.
          token: of the author; "" claims a name that is free.

        Raises:
          Refused: the message says why and what to do.
        """
        opening = self._opening
        if not opening.open:
            raise Refused(f"no policies are taken just now: {opening.reason}")
        receipt = self._intake.take(entry, token, self._now())
        self._changed.set()
        return receipt

    def mine(self, author: str, token: str) -> list[Ticket]:
        """An author's tickets, newest first.

        Raises:
          Refused: that is not the author's token.
        """
        if not self._opening.open:
            raise Refused(f"no tickets are shown just now: {self._opening.reason}")
        self._intake.check_token(author, token)
        return self._tickets.of(author)

    def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket of that id; None where there is none."""
        return self._tickets.get(ticket_id) if self._arena.home.writable else None

    def log(self, ticket: Ticket) -> list[Event]:
        """What happened to a ticket, oldest first."""
        return self._tickets.log(ticket)

    def ahead_of(self, ticket: Ticket) -> int:
        """How many slices come before a ticket's next one, if nobody else comes."""
        order = [one.number for one in self._order()]
        return order.index(ticket.number) if ticket.number in order else 0

    @property
    def budget(self) -> PlayingTime:
        """What submissions may cost."""
        return self._settings.budget

    def plan(self, ticket: Ticket) -> Plan:
        """How far its budget goes; an estimate once a match of it was measured."""
        return self._slices.plan(ticket)

    def day(self, ticket: Ticket) -> float:
        """Seconds that its author may use on a day."""
        return self._slices.day(ticket.author)

    def used_today(self, ticket: Ticket) -> float:
        """Seconds that its author has used today; 0 for a check."""
        return self._slices.used_today([ticket]).get(ticket.author, 0.0)

    def waits_for_tomorrow(self, ticket: Ticket) -> bool:
        """Whether its author has used up what may be used in a day."""
        used = self._slices.used_today([ticket])
        return not ticket.over and not self._slices.affordable(ticket, used)

    def leave(self) -> None:
        """Stops working.  The slice at hand may be cut off, and is done again another time."""
        if not self._arena.home.writable:
            return
        self._stopped.set()
        self._changed.set()
        ticket = self._at_hand
        if ticket is not None:
            self._tickets.change(ticket, self._now(), tries=0)

    def _work(self) -> None:
        self._opening = self._look()
        if not self._opening.open:
            return
        with ExitStack() as until_over:
            if not self._alone(until_over):
                return
            for ticket in self._tickets.unfinished():
                self._tickets.change(ticket, self._now(), "the server was started again")
            while not self._stopped.is_set():
                self._changed.clear()
                if not self._next_slice():
                    self._changed.wait(LOOK_SECONDS)

    def _look(self) -> Opening:
        if self._settings.submitting is Submitting.OFF:
            return Opening(False, "", "the operator has switched submissions off")
        try:
            return Opening(True, self._arena.wall, "")
        except SandboxError as error:
            return Opening(False, "", str(error))

    def _alone(self, until_over: ExitStack) -> bool:
        """Waits until no other server works on this home's submissions, and holds the lock then."""
        while not self._stopped.is_set():
            try:
                until_over.enter_context(held_alone(self._arena.home.path / LOCK, _Held()))
            except _Held:
                self._stopped.wait(LOOK_SECONDS)
            else:
                return True
        return False

    def _order(self) -> list[Ticket]:
        going_on = self._tickets.unfinished()
        used = self._slices.used_today(going_on)
        able = [one for one in going_on if self._slices.affordable(one, used)]
        return in_order(able, used, check_next=self._check_next)

    def _next_slice(self) -> bool:
        """Does the slice whose turn it is; returns whether there was one."""
        try:
            self._tickets.forget_checks(self._now())
            now = time.monotonic()
            rested = (one for one in self._order() if self._resting.get(one.number, now) <= now)
            ticket = next(rested, None)
        except KNOWN:
            return False  # visitors see the same trouble; it is looked at again soon
        if ticket is None:
            return False
        self._check_next = not ticket.checks_only
        self._serve(ticket)
        return True

    def _serve(self, ticket: Ticket) -> None:
        """Does a slice; what breaks is tried again, and given up in the end."""
        try:
            if ticket.tries >= TRIES:
                self._give_up(ticket, f"the server ended {ticket.tries} times in the middle of it")
                return
            self._at_hand = self._tickets.change(ticket, self._now(), tries=ticket.tries + 1)
            self._slices.serve(self._at_hand)
            self._tickets.change(ticket, self._now(), tries=0)
        except Exception as error:  # noqa: BLE001 - the queue goes on with the next submission
            if not self._stopped.is_set():
                self._failed(ticket, error)
        finally:
            self._at_hand = None

    def _failed(self, ticket: Ticket, error: Exception) -> None:
        known = isinstance(error, KNOWN)
        said = str(error) if known else f"{type(error).__name__}: {error}"
        self._resting[ticket.number] = time.monotonic() + REST_SECONDS
        try:
            if not known or ticket.tries + 1 >= TRIES:
                self._give_up(ticket, said)
            else:
                say = f"something of the arena's own failed and is tried again: {said}"
                self._tickets.change(ticket, self._now(), say)
        except KNOWN:
            return  # the file of tickets itself is in trouble; the slice is found as it was

    def _give_up(self, ticket: Ticket, problem: str) -> None:
        say = "something of the arena's own failed"
        self._tickets.change(ticket, self._now(), say, stage=Stage.FAILED, problem=problem)
