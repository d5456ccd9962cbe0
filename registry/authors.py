"""Who may add a version under a name.

The operator, who is whoever can write to the registry (the command line), may always.  Through
the pages only who shows the author's token may.  An author gets one by claiming a name that is
free; an author who came by the command line has none until the operator makes one.

What a token allows, and how long, is in `registry.accounts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import naming, rows, tokens
from registry.errors import NameRefused, RegistryCorrupt
from registry.events import note
from registry.part import Part
from registry.schema import AuthorRow, InviteRow
from registry.values import Actor, Author, Origin


class Authors(Part):
    """Names that are taken, and the tokens that prove whose they are."""

    __slots__ = ()

    def check_author(self, name: str) -> str:
        """Returns the author's name where a version may be added under it by `submit`.

        Raises:
          MalformedName: it is not written as one can be.
          NameRefused: it is the arena's own, or reads like another author's.
        """
        naming.check_author(name)
        with self.database.reading() as session:
            check_authors(session, [name])
        return name

    def author(self, name: str) -> Author | None:
        """The author of exactly that name; None where there is none."""
        if not naming.is_author(name):
            return None
        with self.database.reading() as session, rows.legible(session):
            row = session.get(AuthorRow, name)
            return None if row is None else _author(session, row)

    def authors(self) -> tuple[Author, ...]:
        """Everybody, in the order in which they came."""
        statement = select(AuthorRow).order_by(col(AuthorRow.created), col(AuthorRow.name))
        with self.database.reading() as session, rows.legible(session):
            return tuple(_author(session, row) for row in session.exec(statement))

    def claim_author(self, name: str, *, origin: Origin = Origin.PAGE) -> str:
        """Takes a name that is free.

        Args:
          name: of the author, without a slash.
          origin: who asks for it.

        Returns:
          The author's token, 48 hexadecimal digits.  It is stored nowhere: whoever loses it has
          to ask the operator for another one.

        Raises:
          MalformedName: it is not written as one can be.
          NameRefused: it is taken, the arena's own, or reads like another author's.
        """
        naming.check_author(name)
        token = tokens.drawn()
        with self.database.writing() as session:
            if session.get(AuthorRow, name) is not None:
                naming.refuse_reserved(name)
                raise NameRefused(
                    f"the author {name!r} is here already: show the token that was made for it, "
                    "or call yourself otherwise"
                )
            now = datetime.now(UTC)
            check_new_names(session, [name], now)
            insert_author(session, name, now, origin, tokens.hashed(token))
            by = self.actor if origin is Origin.OPERATOR else Actor(name, self.actor.detail)
            note(session, by, "account.claimed", [(name, origin.value)])
        return token


def check_authors(session: Session, names: Collection[str]) -> None:
    """Refuses authors under whom nothing may be added, as well as two of these that read alike.

    Raises:
      NameRefused: one is the arena's own, or reads like another author.
    """
    taken = _like(session, names)
    for name in sorted(names):
        naming.refuse_reserved(name)
        alike = taken.setdefault(naming.skeleton(name), set())
        naming.refuse_likeness(name, alike)
        alike.add(name)


def check_new_names(
    session: Session, names: Collection[str], now: datetime, *, invitation: str = ""
) -> None:
    """Refuses names under which no account can be made now, as well as two that read alike.

    Args:
      session: that writes.
      names: of the accounts.
      now: the moment, for invitations that expire.
      invitation: hash of the code that is used; what it promises is not taken.

    Raises:
      NameRefused: one is taken, the arena's own, reads like another's, or is promised to whoever
        has an invitation for it.
    """
    check_authors(session, names)
    open_ones = select(InviteRow).where(
        col(InviteRow.name) != "",
        col(InviteRow.used) < col(InviteRow.uses),
        col(InviteRow.code) != invitation,
        sa.or_(col(InviteRow.expires).is_(None), col(InviteRow.expires) > now),
    )
    promised = {naming.skeleton(row.name): row.name for row in session.exec(open_ones)}
    for name in names:
        if session.get(AuthorRow, name) is not None:
            raise NameRefused(f"there is an account or an author {name!r} already")
        if naming.skeleton(name) in promised:
            raise NameRefused(
                f"the name {promised[naming.skeleton(name)]!r} waits for somebody who was invited: "
                "show that invitation, or call yourself otherwise"
            )


def note_authors(session: Session, names: Collection[str], now: datetime) -> None:
    """Writes down those who register something for the first time, by the operator's hand."""
    taken = _like(session, names)
    for name in sorted(set(names)):
        if name not in taken.get(naming.skeleton(name), ()):
            insert_author(session, name, now, Origin.OPERATOR)


def insert_author(
    session: Session, name: str, created: datetime, origin: Origin, token: str = ""
) -> AuthorRow:
    """Writes a new author; `token` is the hash of one, or "" without one."""
    row = AuthorRow(
        name=name,
        skeleton=naming.skeleton(name),
        token=token,
        created=created,
        origin=origin.value,
    )
    session.add(row)
    session.flush()
    return row


def _like(session: Session, names: Iterable[str]) -> dict[str, set[str]]:
    """Authors that read like one of the names, by skeleton; those that read like none left out."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for some in rows.batches(sorted({naming.skeleton(name) for name in names})):
        statement = select(AuthorRow.skeleton, AuthorRow.name)
        for skeleton, name in session.exec(statement.where(col(AuthorRow.skeleton).in_(some))):
            found[skeleton].add(name)
    return found


def _author(session: Session, row: AuthorRow) -> Author:
    if row.origin not in frozenset(Origin) or row.skeleton != naming.skeleton(row.name):
        raise RegistryCorrupt(
            f"the author {row.name!r} in the registry {rows.place(session)} is not what was "
            "stored: the registry was damaged or edited; restore it from a copy"
        )
    return Author(row.name, row.skeleton, bool(row.token), row.created, Origin(row.origin))
