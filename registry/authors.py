"""Who may add a version under a name.

The operator, who is whoever can write to the registry (the command line), may always.  Through
the pages only who shows the author's token may.  An author gets one by claiming a name that is
free; an author who came by the command line has none until the operator makes one.

A token is 192 random bits.  Its hash alone is stored, so that a copy of the registry adds nothing
in an author's name.  The hash is a plain BLAKE2b: a slow one protects secrets that can be
guessed, and these cannot.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from registry import naming, rows
from registry.errors import NameRefused, RegistryCorrupt, UnknownAuthor
from registry.part import Part
from registry.schema import AuthorRow
from registry.values import Author, Origin

TOKEN_BYTES = 24
_TOKEN_PREFIX = b"policy-arena author token\n"


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
        token = secrets.token_hex(TOKEN_BYTES)
        with self.database.writing() as session:
            check_authors(session, [name])
            if session.get(AuthorRow, name) is not None:
                raise NameRefused(
                    f"the author {name!r} is here already: show the token that was made for it, "
                    "or call yourself otherwise"
                )
            rows.insert_author(session, name, datetime.now(UTC), origin, _hash(token))
        return token

    def renew_token(self, name: str) -> str:
        """Makes a token for an author who is there; one that there was fits no longer.

        Returns:
          The token, as for `claim_author`.

        Raises:
          UnknownAuthor: there is no author of exactly that name.
          NameRefused: it is the arena's own, for which no token is made.
        """
        naming.refuse_reserved(name)
        token = secrets.token_hex(TOKEN_BYTES)
        with self.database.writing() as session:
            row = session.get(AuthorRow, name) if naming.is_author(name) else None
            if row is None:
                raise UnknownAuthor(
                    f"there is no author {name!r} in the registry {self.database.where}; a new "
                    "one claims the name"
                )
            row.token = _hash(token)
            session.add(row)
        return token

    def token_fits(self, name: str, token: str) -> bool:
        """Whether this is the token of the author of exactly that name.

        Blanks around it do not count.  How long the answer takes tells nothing of the right one.
        """
        if not naming.is_author(name):
            return False
        with self.database.reading() as session, rows.legible(session):
            row = session.get(AuthorRow, name)
            stored = "" if row is None else row.token
        return hmac.compare_digest(stored.encode(), _hash(token).encode())


def check_authors(session: Session, names: Collection[str]) -> None:
    """Refuses authors under whom nothing may be added, as well as two of these that read alike.

    Raises:
      NameRefused: one is the arena's own, or reads like another author.
    """
    taken = rows.like_authors(session, names)
    for name in sorted(names):
        naming.refuse_reserved(name)
        alike = taken.setdefault(naming.skeleton(name), set())
        naming.refuse_likeness(name, alike)
        alike.add(name)


def note_authors(session: Session, names: Collection[str], now: datetime) -> None:
    """Writes down those who register something for the first time, by the operator's hand."""
    taken = rows.like_authors(session, names)
    for name in sorted(set(names)):
        if name not in taken.get(naming.skeleton(name), ()):
            rows.insert_author(session, name, now, Origin.OPERATOR)


def _hash(token: str) -> str:
    content = _TOKEN_PREFIX + token.strip().encode(errors="surrogatepass")
    return hashlib.blake2b(content, digest_size=32).hexdigest()


def _author(session: Session, row: AuthorRow) -> Author:
    if row.origin not in frozenset(Origin) or row.skeleton != naming.skeleton(row.name):
        raise RegistryCorrupt(
            f"the author {row.name!r} in the registry {rows.place(session)} is not what was "
            "stored: the registry was damaged or edited; restore it from a copy"
        )
    return Author(row.name, row.skeleton, bool(row.token), row.created, Origin(row.origin))
