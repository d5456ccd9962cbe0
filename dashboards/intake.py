"""Where submissions are handed in: whose names are whose, and what is not taken at all."""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.rejection import Rejection
from arena.submission import as_source
from dashboards.settings import Settings
from dashboards.tickets import Entry, Tickets
from registry import (
    Action,
    Invite,
    InviteRefused,
    MalformedName,
    Origin,
    Quota,
    Registry,
    Role,
    TokenRefused,
    check_name,
    may,
    over_quota,
    shown,
)

HOUR = timedelta(hours=1)
DESCRIPTION_CHARS = 300
CHECKS_WAITING = 20
"""Checks that may wait at once."""
MOST_WAITING = 200
"""Submissions of everybody that may go on at once."""
_STEERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing: with them code reads otherwise than it runs."""


class Refused(Exception):
    """A submission is not taken in; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """For what was taken in.

    Attributes:
      ticket: its id.
      token: of an author who is new; "" where the author was known, or a check was wanted.
    """

    ticket: str
    token: str = ""


class Intake:
    """Takes entries in, one after the other."""

    def __init__(self, settings: Settings, registry: Registry, tickets: Tickets) -> None:
        self._settings, self._registry, self._tickets = settings, registry, tickets
        self._lock = threading.Lock()

    def take(self, entry: Entry, token: str, now: datetime) -> Receipt:
        """Takes an entry, and the name of its author where that is free.

        Raises:
          Refused: the source is no text or too long, the name is not one that may be used, or
            too many wait.
        """
        _check_texts(entry)
        with self._lock:
            self._check_room(entry, now)
            author = entry.name.partition("/")[0]
            new_token, who = self._admit(author, token, now) if author else ("", "")
            ticket = self._tickets.add(entry, now, who)
            say = "taken in" if entry.name else "taken in, to be checked only"
            self._tickets.change(ticket, now, say)
            if ticket.author:
                said = f"{entry.game} by the pages"
                self._registry.note(who, "submission.taken", entry.name, said)
                self._registry.spend(ticket.author, submissions=1, day=now.date())
        return Receipt(ticket.id, new_token)

    def check_token(self, author: str, token: str) -> str:
        """Returns whose token it is, where that is the author or an operator.

        Raises:
          Refused: it is not, or there is no such author.
        """
        if not token.strip():
            raise Refused("show the author's token, which was made when the name was claimed")
        try:
            account = self._registry.account_of(token)
        except TokenRefused as error:
            raise Refused(str(error)) from error
        if account is not None and may(account, Action.SUBMIT, author):
            return account.name
        if account is not None and account.role is Role.READER:
            raise Refused(f"{account.name} reads only; the operator can make it an author")
        known = self._registry.author(author)
        if known is None:
            how = (
                "put the code of an invitation in the place of the token"
                if self._settings.by_invitation
                else "leave the token empty to claim the name"
            )
            raise Refused(f"there is no author {_quoted(author)} yet: {how}")
        if not known.has_token:
            raise Refused(
                f"{author} submits from the command line and has no token: whoever runs this arena "
                f"can make one with  arena accounts renew {author}"
            )
        raise Refused(
            f"this is not the token of {author}; whoever runs this arena can make a new one with  "
            f"arena accounts renew {author}"
        )

    def _admit(self, author: str, token: str, now: datetime) -> tuple[str, str]:
        """Sees to it that the author may hand in.

        Returns:
          The token of an author who is new, else ""; and in whose name this is done.
        """
        try:
            self._registry.check_author(author)
            known = self._registry.author(author)
            if token.strip():
                invited = None if known else self._registry.invitation(token)
                if invited is not None:
                    return self._redeem(invited, token, author, now), author
                return "", self.check_token(author, token)
            if known is None and self._settings.by_invitation:
                raise Refused(
                    "new authors come by invitation here: put its code in the place of the token"
                )
            if known is not None and not known.has_token:
                self.check_token(author, "-")
            if known is None:
                self._check_claims(now)
            return self._registry.claim_author(author), author
        except (MalformedName, InviteRefused) as error:
            raise Refused(str(error)) from error

    def _redeem(self, invited: Invite, code: str, author: str, now: datetime) -> str:
        """Makes an account with an invitation that is for one who may hand in."""
        if invited.role is Role.READER:
            raise Refused("this invitation is for somebody who only reads")
        return self._registry.redeem(code, author, now=now)

    def _check_claims(self, now: datetime) -> None:
        recent = [
            one.created
            for one in self._registry.authors()
            if one.origin is Origin.PAGE and one.created > now - HOUR
        ]
        if len(recent) >= self._settings.per_hour:
            raise Refused(
                f"{self._settings.per_hour} new names were claimed within the last hour, and that "
                f"is all; try again in {_minutes(now, recent[0])}"
            )

    def _check_room(self, entry: Entry, now: datetime) -> None:
        going_on = self._tickets.unfinished()
        if not entry.name:
            checks = sum(one.checks_only for one in going_on)
            if checks >= CHECKS_WAITING:
                raise Refused(f"{checks} checks are waiting already; try again in a minute")
            return
        author, settings = entry.name.partition("/")[0], self._settings
        own = sum(one.author == author for one in going_on)
        if own >= settings.waiting:
            raise Refused(
                f"{own} submissions of {author} go on already, and that is all; wait for one of "
                "them to be over"
            )
        if len(going_on) >= MOST_WAITING:
            raise Refused(f"{len(going_on)} submissions go on already; try again in an hour")
        account = self._registry.account(author)
        quota = Quota() if account is None else Quota(account.quota.submissions)
        over = over_quota(self._registry.spent(author, now.date()), quota, Quota())
        if over:
            raise Refused(f"{author} hands in nothing more today: {over}")
        handed_in = self._tickets.accepted(author, now - HOUR)
        if len(handed_in) >= settings.per_hour:
            raise Refused(
                f"{author} has handed in {len(handed_in)} policies within the last hour, and that "
                f"is all; try again in {_minutes(now, handed_in[0])}"
            )


def _minutes(now: datetime, first: datetime) -> str:
    """Until an hour has gone by since `first`."""
    left = max((first + HOUR - now).total_seconds() / 60, 0.0)
    return f"{int(left) + 1} minutes"


def _check_texts(entry: Entry) -> None:
    """Refuses what is not worth a ticket: it could not be stored, or a reader be misled by it."""
    try:
        if entry.name:
            check_name(entry.name)
    except MalformedName as error:
        raise Refused(str(error)) from error
    if len(entry.description) > DESCRIPTION_CHARS:
        raise Refused(
            f"the idea has {len(entry.description):,} characters, and {DESCRIPTION_CHARS} are "
            "kept: shorten it"
        )
    for place, character in enumerate(entry.description, 1):
        if shown(character) not in (character, " ") or character in "\n\t":
            raise Refused(
                f"the idea has {_called(character)} at character {place}, which readers would not "
                "see: leave it out"
            )
    source = as_source(entry.source)
    if isinstance(source, Rejection):
        raise Refused(source.message)
    if not source.text.strip():
        raise Refused("there is no source: paste it, or upload a file")
    for place, character in enumerate(source.text):
        if character in _STEERING:
            line = source.text.count("\n", 0, place) + 1
            raise Refused(
                f"line {line} has {_called(character)}, which turns the direction of writing: the "
                "code would read otherwise than it runs; leave it out"
            )


def _called(character: str) -> str:
    """A character by its code and name."""
    return f"U+{ord(character):04X} ({unicodedata.name(character, 'a control character').lower()})"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
