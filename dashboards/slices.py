"""What is done for a submission in one go: its checks and its trial, or one deal against everybody.

A slice may be cut off at any point, and is done again from its beginning: what was registered or
stored before is found, and nothing is played twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from arena.enrol import Enrolled, Judge
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.listings import also
from arena.rejection import Rejection, RejectionKind
from arena.store import MatchRow
from arena.tally import Pair, PlayReport, Progress, held_seconds
from arena.values import Result
from dashboards.budgets import DEAL, Plan, PlayingTime, duration, told, too_slow
from dashboards.tickets import Stage, Ticket, Tickets
from registry import Quota, Registry
from registry.values import PolicyVersion, Status

ORIGIN = "page"
"""Value of `submitted_through` in the provenance of what came in here."""
MEASURED = 40
"""Matches of a known policy that say how long one takes."""
_TOLD_EVERY = 0.5
"""Seconds between two notes of how many matches were played."""


class Playing(Protocol):
    """What slices need of an arena."""

    @property
    def wall(self) -> str: ...

    def check(
        self, source: str, game: Game | str, judge: Judge | None = None
    ) -> Rejection | None: ...

    def submit(
        self,
        source: str,
        game: Game | str,
        name: str,
        *,
        description: str = "",
        labels: Mapping[str, str] | None = None,
        provenance: Mapping[str, object] | None = None,
        judge: Judge | None = None,
    ) -> Enrolled | Rejection: ...

    def play_pairs(
        self,
        game: Game | str,
        wanted: Mapping[Pair, int],
        *,
        shared: bool = False,
        processor_seconds: float | None = None,
        progress: Progress = ...,
    ) -> PlayReport: ...

    def on_behalf_of(self, who: str) -> AbstractContextManager[None]: ...

    def policy(self, ref: str, game: Game | str | None = None) -> PolicyVersion: ...

    def matches(
        self,
        game: Game | str,
        ref: str | None = None,
        *,
        against: str | None = None,
        faults_only: bool = False,
        limit: int | None = 20,
    ) -> Sequence[MatchRow]: ...


def mark_of(ticket: Ticket) -> str:
    """What the provenance of a version says of the ticket that it came by; not the ticket's id."""
    return hashlib.blake2b(ticket.id.encode(), digest_size=8, person=b"ticket").hexdigest()


@dataclass(frozen=True)
class Slices:
    """Works on tickets.

    Attributes:
      arena: checks, registers and plays.
      registry: keeps what authors have spent.
      tickets: where the tickets are.
      budget: what is allowed.
      matches: wanted against each member of the evaluation population.
      now: the time, in UTC.
    """

    arena: Playing
    registry: Registry
    tickets: Tickets
    budget: PlayingTime
    matches: int
    now: Callable[[], datetime]

    def serve(self, ticket: Ticket) -> Ticket:
        """Does a ticket's next slice; returns the ticket as it stands then.

        Raises:
          ArenaError, RegistryError, SandboxError, StoreError: something of ours broke; what was
            stored stays.
        """
        if ticket.digest:
            return self._deal(ticket)
        return self._enter(ticket)

    def used_today(self, tickets: Iterable[Ticket]) -> dict[str, float]:
        """Seconds that the authors of some tickets have used today."""
        today = self.now().date()
        authors = {ticket.author for ticket in tickets if ticket.author}
        return {author: self.registry.spent(author, today).seconds for author in authors}

    def day(self, author: str) -> float:
        """Seconds that an author may use on a day: what was set for the account, or the default."""
        account = self.registry.account(author)
        own = Quota() if account is None else account.quota
        return own.or_else(Quota(seconds=self.budget.day)).seconds or 0.0

    def affordable(self, ticket: Ticket, used_today: Mapping[str, float]) -> bool:
        """Whether its author may still use today what the next slice takes."""
        if ticket.checks_only:
            return True
        left = self.day(ticket.author) - used_today[ticket.author]
        return left > 0 and left >= min(
            self.plan(ticket).deal, self.budget.smaller, self.day(ticket.author)
        )

    def plan(self, ticket: Ticket, match_seconds: float = 0.0) -> Plan:
        """How far the budget of a ticket goes, from its beginning."""
        seconds = match_seconds or ticket.match_seconds
        return Plan(seconds, ticket.opponents, self.matches, self.budget.smaller)

    def _enter(self, ticket: Ticket) -> Ticket:
        """The checks and the trial, which are charged whatever comes of them."""
        entry, game = self.tickets.entry(ticket), game_named(ticket.game)
        opponents = len(default_population(game.name).digests)
        ticket = self.tickets.change(ticket, self.now(), wall=self.arena.wall, opponents=opponents)

        def judge(trial: tuple[Result, ...]) -> Rejection | None:
            seconds = sum(map(held_seconds, trial)) / len(trial)
            self.tickets.change(ticket, self.now(), match_seconds=seconds)
            plan = self.plan(ticket, seconds)
            if plan.matches:
                return None
            return Rejection(
                RejectionKind.TOO_SLOW, too_slow(plan, seconds / game.length, game.step)
            )

        outcome: Enrolled | Rejection | None
        began = self.now()
        try:
            if ticket.checks_only:
                outcome = self.arena.check(entry.source, game, judge)
            else:
                with self.arena.on_behalf_of(ticket.who):
                    outcome = self.arena.submit(
                        entry.source,
                        game,
                        entry.name,
                        description=entry.description,
                        provenance={"submitted_through": ORIGIN, "ticket": mark_of(ticket)},
                        judge=judge,
                    )
        finally:
            seconds = max((self.now() - began).total_seconds(), 0.0)
            self._charge(ticket, seconds)
        ticket = self.tickets.change(ticket, self.now(), spent=ticket.spent + seconds)
        if isinstance(outcome, Rejection):
            say = f"rejected after {duration(seconds)}: {outcome.kind}"
            return self._over(ticket, say, stage=Stage.REJECTED, rejection=outcome)
        if outcome is None:
            return self._over(ticket, f"it passes all checks, after {duration(seconds)}")
        return self._registered(ticket, game, outcome)

    def _registered(self, ticket: Ticket, game: Game, outcome: Enrolled) -> Ticket:
        version = outcome.version
        fresh = outcome.credited or version.provenance.get("ticket") == mark_of(ticket)
        if not fresh:
            say = f"the same content was registered before, as {version.ref}"
        else:
            say = f"registered as {version.ref}"
            if version.also:
                say += f"; the same content is {also(version.also)}, they share its results"
        ticket = self.tickets.change(
            ticket,
            self.now(),
            say,
            digest=version.digest,
            fresh=fresh,
            stage=Stage.PLAYING,
            opponents=len(_others(game, version.digest)),
            match_seconds=ticket.match_seconds or self._known_seconds(version),
        )
        if version.status is not Status.QUALIFIED:
            return self._over(ticket, f"it is {version.status.value}, and plays nothing")
        return self._planned(ticket, game)

    def _known_seconds(self, version: PolicyVersion) -> float:
        """What a match of a version takes that had its trial long ago; 0 where nothing tells."""
        found = self.arena.matches(version.game, version.digest, limit=MEASURED)
        return sum(row.seconds for row in found) / len(found) if found else 0.0

    def _planned(self, ticket: Ticket, game: Game) -> Ticket:
        """Says how many matches are to be played."""
        plan = self.plan(ticket)
        matches = max(plan.matches, min(DEAL, self.matches))
        say = told(plan, ticket.match_seconds / game.length, game.step)
        return self.tickets.change(
            ticket, self.now(), say if ticket.match_seconds else "", matches=matches
        )

    def _deal(self, ticket: Ticket) -> Ticket:
        """One more deal against everybody."""
        game = game_named(ticket.game)
        version = self.arena.policy(ticket.digest, game)
        if version.status is not Status.QUALIFIED:
            return self._over(ticket, f"it is {version.status.value}: {version.status_reason}")
        others = _others(game, ticket.digest)
        target = min(ticket.reached + DEAL, ticket.matches)
        left_today = self.day(ticket.author) - self.used_today([ticket])[ticket.author]
        allowed = min(self.budget.submission - ticket.spent, left_today)
        report = self.arena.play_pairs(
            game,
            {(ticket.digest, other): target for other in others},
            processor_seconds=max(allowed, 0.0),
            progress=self._progress(ticket, len(others) * target),
        )
        self._charge(ticket, report.held_seconds)
        spent = ticket.spent + report.held_seconds
        played = len(others) * target - report.left
        seconds = _measured(ticket, report)
        ticket = self.tickets.change(
            ticket, self.now(), spent=spent, played=played, match_seconds=seconds
        )
        if report.left:
            return self._cut_short(ticket)
        return self._reached(ticket, target)

    def _reached(self, ticket: Ticket, target: int) -> Ticket:
        """A deal is complete: what comes next?"""
        left = self.budget.submission - ticket.spent
        rest = self._rest(ticket, left)
        matches = min(self.matches, target + rest)
        say = (
            f"played {target} of {ticket.matches} matches with each opponent; used "
            f"{duration(ticket.spent)} of {duration(self.budget.submission)}"
        )
        ticket = self.tickets.change(ticket, self.now(), say, reached=target, matches=matches)
        if target < matches:
            return ticket
        if target < self.matches:
            return self._over(ticket, f"its budget is enough for no other deal: {target} with each")
        return self._over(ticket, "everything is played")

    def _rest(self, ticket: Ticket, left: float) -> int:
        """Matches with each opponent that what is left of the budget is enough for."""
        plan = Plan(ticket.match_seconds, ticket.opponents, self.matches, left)
        return self.matches if not plan.needed else DEAL * int(max(left, 0.0) / plan.deal)

    def _cut_short(self, ticket: Ticket) -> Ticket:
        """A budget was spent in the middle of a deal."""
        if ticket.spent < self.budget.submission:
            day = duration(self.day(ticket.author))
            say = f"its author has used {day} today: it goes on tomorrow"
            return self.tickets.change(ticket, self.now(), say)
        return self._over(
            ticket,
            f"its budget of {duration(self.budget.submission)} is spent: {ticket.played} of "
            f"{ticket.wanted} matches were played",
        )

    def _over(self, ticket: Ticket, say: str, **values: object) -> Ticket:
        return self.tickets.change(ticket, self.now(), say, **{"stage": Stage.DONE, **values})

    def _charge(self, ticket: Ticket, seconds: float) -> None:
        if ticket.author and seconds:
            self.registry.spend(ticket.author, seconds, day=self.now().date())

    def _progress(self, ticket: Ticket, wanted: int) -> Progress:
        """Notes how many matches are stored, now and then."""
        last = [time.monotonic()]

        def note(done: int, missing: int) -> None:
            if time.monotonic() - last[0] > _TOLD_EVERY:
                last[0] = time.monotonic()
                self.tickets.change(ticket, self.now(), played=wanted - missing + done)

        return note


def _others(game: Game, digest: str) -> list[str]:
    """The evaluation population, without the policy itself."""
    return [other for other in default_population(game.name).digests if other != digest]


def _measured(ticket: Ticket, report: PlayReport) -> float:
    """What a match takes, by all that were played for a ticket."""
    return report.held_seconds / report.played if report.played else ticket.match_seconds
