"""The audit log: who changed what, and when.  Entries are added and never changed.

What a part of the registry changes it notes in the same transaction, in the name of its actor
(`Registry.acting_as`): there is no change without its entry, and no entry without its change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import rows
from registry.errors import MalformedSubmission
from registry.part import Part
from registry.schema import EventRow
from registry.values import Actor, Event

MOST_EVENTS = 1_000
"""That are read at once, unless more are asked for."""
_DETAIL_CHARS = 1_000
_WHAT = re.compile(r"[a-z][a-z-]{0,31}(\.[a-z][a-z-]{0,31}){0,3}")


class Events(Part):
    """The audit log."""

    __slots__ = ()

    def note(self, who: str, what: str, subject: str, detail: str = "") -> None:
        """Adds an entry, for what is changed elsewhere than in the registry.

        Args:
          who: name of an account, "operator" or "arena".
          what: words in lower case with dots between: "match.played".
          subject: what it was done to.
          detail: what else there is to say; at most 1,000 characters are kept.

        Raises:
          MalformedSubmission: `what` is not written so.
        """
        if not _WHAT.fullmatch(what):
            raise MalformedSubmission(f"{what!r} is no kind of event: words with dots between")
        with self.database.writing() as session:
            note(session, Actor(who), what, [(subject, detail)])

    def events(
        self,
        *,
        who: str | None = None,
        what: str | None = None,
        subject: str | None = None,
        since: datetime | None = None,
        after: int = 0,
        limit: int = MOST_EVENTS,
    ) -> tuple[Event, ...]:
        """The newest entries that fit, oldest first.

        Args:
          who: in whose name.
          what: the kind, or its first words: "account" finds "account.disabled".
          subject: what it was done to.
          since: when, or later.
          after: position of an entry; those that came later.
          limit: how many at most.
        """
        statement = select(EventRow).where(col(EventRow.position) > after)
        if who is not None:
            statement = statement.where(col(EventRow.who) == who)
        if what is not None:
            below = col(EventRow.what).startswith(f"{what}.", autoescape=True)
            statement = statement.where(sa.or_(col(EventRow.what) == what, below))
        if subject is not None:
            statement = statement.where(col(EventRow.subject) == subject)
        if since is not None:
            statement = statement.where(col(EventRow.moment) >= since)
        statement = statement.order_by(col(EventRow.position).desc()).limit(limit)
        with self.database.reading() as session, rows.legible(session):
            found = session.exec(statement).all()
            return tuple(
                Event(row.position or 0, row.moment, row.who, row.what, row.subject, row.detail)
                for row in reversed(found)
            )


def note(session: Session, actor: Actor, what: str, changed: Iterable[tuple[str, str]]) -> None:
    """Adds an entry for each (subject, detail), in the transaction that changes them."""
    now = datetime.now(UTC)
    entries = [
        {
            "moment": now,
            "who": _storable(actor.who),
            "what": what,
            "subject": _storable(subject),
            "detail": _storable("; ".join(part for part in (detail, actor.detail) if part)),
        }
        for subject, detail in changed
    ]
    if entries:
        session.execute(sa.insert(EventRow), entries)


def _storable(text: str) -> str:
    """What both databases can hold of a text."""
    plain = text.replace("\0", " ").encode(errors="replace").decode()
    return plain if len(plain) <= _DETAIL_CHARS else plain[: _DETAIL_CHARS - 3] + "..."
