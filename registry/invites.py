"""Invitations: a code with which somebody makes an account without the operator.

A code is 192 random bits, of which the hash is stored (`registry.tokens`).  It says for which
role it is, how often it can be used and until when, and may be for one name alone.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from registry import naming, rows, tokens
from registry.authors import check_authors, check_new_names, insert_author
from registry.errors import AccountDisabled, InviteRefused, NameRefused, RegistryCorrupt
from registry.events import note
from registry.part import Part
from registry.rights import Role
from registry.schema import AuthorRow, EventRow, InviteRow
from registry.tokens import Proof
from registry.values import Actor, Origin

SHOWN_DIGITS = 8
"""Of a code's hash, by which an invitation is called where its code is known to nobody."""
_REDEEMED = "invite.redeemed"
_NOT_DRAWN = (
    f"this token cannot be used: bring {2 * tokens.TOKEN_BYTES} hexadecimal digits that were drawn "
    "at random (0-9, a-f) and are used nowhere else, or none to be given one"
)


@dataclass(frozen=True, slots=True)
class Invite:
    """An invitation, without its code.

    Attributes:
      mark: the first digits of the code's hash, to tell invitations apart.
      role: of the accounts that are made with it.
      name: of the only account that can be made with it; "" for any.
      uses: how many accounts can be made with it.
      used: how many were.
      created: when it was made.
      expires: from when on it can be used no more; None for never.
    """

    mark: str
    role: Role
    name: str
    uses: int
    used: int
    created: datetime
    expires: datetime | None

    def open_at(self, moment: datetime) -> bool:
        """Whether somebody can still make an account with it."""
        return self.used < self.uses and (self.expires is None or moment < self.expires)


class Invites(Part):
    """Codes, and the accounts that are made with them."""

    __slots__ = ()

    def invite(
        self, role: Role = Role.AUTHOR, *, uses: int = 1, expires: datetime | None = None
    ) -> str:
        """Makes an invitation for anybody who has its code.

        Args:
          role: of the accounts.
          uses: how many accounts can be made with it.
          expires: from when on it can be used no more.

        Returns:
          The code, 48 hexadecimal digits; it is stored nowhere.

        Raises:
          ValueError: nobody could use it.
        """
        if uses < 1:
            raise ValueError(f"an invitation for {uses} accounts invites nobody")
        code = tokens.drawn()
        self._store({code: ("", role)}, uses, expires)
        return code

    def invite_all(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> Mapping[str, str]:
        """Makes an invitation for each of some names, in one transaction: all of them, or none.

        Returns:
          The code of each by name.

        Raises:
          MalformedName: a name is not written as one can be.
          NameRefused: one is taken, the arena's own, reads like another's, or is there twice.
        """
        names = naming.check_roster([name for name, _ in roster])
        codes = {name: tokens.drawn() for name in names}
        self._store({codes[name]: (name, role) for name, role in roster}, 1, expires)
        return codes

    def _store(
        self, made: Mapping[str, tuple[str, Role]], uses: int, expires: datetime | None
    ) -> None:
        now = datetime.now(UTC)
        with self.database.writing() as session:
            names = [name for name, _ in made.values() if name]
            check_authors(session, names)
            for name in names:
                if session.get(AuthorRow, name) is not None:
                    raise NameRefused(f"there is an account or an author {name!r} already")
            for code, (name, role) in made.items():
                row = InviteRow(
                    code=tokens.hashed(code, Proof.INVITE),
                    role=role.value,
                    name=name,
                    uses=uses,
                    used=0,
                    created=now,
                    expires=expires,
                )
                session.add(row)
                said = f"{role.value}, {uses} uses" + (f", for {name}" if name else "")
                note(session, self.actor, "invite.made", [(row.code[:SHOWN_DIGITS], said)])

    def invitation(self, code: str) -> Invite | None:
        """The invitation with this code, used up or not; None where there is none."""
        with self.database.reading() as session, rows.legible(session):
            row = session.get(InviteRow, tokens.hashed(code, Proof.INVITE))
            return None if row is None else _invite(row, rows.place(session))

    def redeem(
        self, code: str, name: str, *, token: str | None = None, now: datetime | None = None
    ) -> str:
        """Makes an account with a code.

        Whoever brings a token can ask again when no answer came: the same code, name and token
        are the same account, made once, whatever has become of the code since.

        Args:
          code: as it was shown; blanks around it do not count.
          name: of the account.
          token: that the account shall have, drawn by who asks (`registry.tokens.drawn`); None to
            have one drawn here.
          now: the moment in question.

        Returns:
          The account's token, as for `claim_author`.

        Raises:
          MalformedName: the name is not written as one can be.
          NameRefused: it is taken, the arena's own, or reads like another's; the code can be
            used for another name.
          InviteRefused: the code invites nobody, nobody any more, or somebody else; or the token
            is none that was drawn at random.
          AccountDisabled: it is the same account, and the operator has shut it since.
        """
        naming.check_author(name)
        if token is not None and (not tokens.looks_drawn(token) or token == code.strip()):
            raise InviteRefused(_NOT_DRAWN)
        brought, token = token, token or tokens.drawn()
        moment = now or datetime.now(UTC)
        with self.database.writing() as session, rows.legible(session):
            row = session.get(InviteRow, tokens.hashed(code, Proof.INVITE))
            if row is None:
                raise InviteRefused("this is not the code of an invitation; check that it is whole")
            invite = _invite(row, rows.place(session))
            if brought is not None and _was_made(session, invite, name, brought):
                return brought
            if not invite.open_at(moment):
                why = "was used already" if invite.used >= invite.uses else "has expired"
                raise InviteRefused(f"this invitation {why}: ask the operator for another one")
            if invite.name not in ("", name):
                raise InviteRefused(f"this invitation is for the name {invite.name!r}")
            check_new_names(session, [name], moment, invitation=row.code)
            if brought is not None and _is_somebodys(session, brought):
                raise InviteRefused(_NOT_DRAWN)  # in the words for any other that does not do
            account = insert_author(session, name, moment, Origin.INVITE, tokens.hashed(token))
            account.role, row.used = invite.role.value, row.used + 1
            session.add(account)
            session.add(row)
            by = Actor(name, self.actor.detail)
            note(session, by, _REDEEMED, [(invite.mark, f"{name}, {invite.role}")])
        return token

    def invites(self) -> tuple[Invite, ...]:
        """All invitations, in the order in which they were made."""
        statement = select(InviteRow).order_by(col(InviteRow.created), col(InviteRow.code))
        with self.database.reading() as session, rows.legible(session):
            where = rows.place(session)
            return tuple(_invite(row, where) for row in session.exec(statement))

    def withdraw_invite(self, mark: str) -> int:
        """Ends the invitations with this mark; what was made with them stays.

        Returns:
          How many were open.
        """
        with self.database.writing() as session, rows.legible(session):
            statement = select(InviteRow).where(
                col(InviteRow.code).startswith(mark, autoescape=True)
            )
            named = session.exec(statement) if len(mark) == SHOWN_DIGITS else ()
            open_ones = [row for row in named if row.used < row.uses]
            for row in open_ones:
                row.uses = row.used
                session.add(row)
                note(session, self.actor, "invite.withdrawn", [(row.code[:SHOWN_DIGITS], "")])
        return len(open_ones)


def _was_made(session: Session, invite: Invite, name: str, token: str) -> bool:
    """Whether this code has made the account of that name, and it still has this token.

    Raises:
      AccountDisabled: it has, and the account is shut.
    """
    account = session.get(AuthorRow, name)
    if account is None or not hmac.compare_digest(account.token, tokens.hashed(token)):
        return False
    made = select(EventRow).where(
        col(EventRow.who) == name,
        col(EventRow.what) == _REDEEMED,
        col(EventRow.subject) == invite.mark,
    )
    if session.exec(made).first() is None:
        return False
    if account.disabled:
        raise AccountDisabled(f"the account {name!r} is disabled: ask the operator")
    return True


def _is_somebodys(session: Session, token: str) -> bool:
    """Whether a token is an account's already; with one token, two could not be told apart."""
    wanted = select(AuthorRow.name).where(col(AuthorRow.token) == tokens.hashed(token))
    return session.exec(wanted).first() is not None


def _invite(row: InviteRow, where: str) -> Invite:
    if row.role not in frozenset(Role):
        raise RegistryCorrupt(
            f"an invitation in the registry {where} is for the role {row.role!r}: the registry "
            "was damaged or edited; restore it from a copy"
        )
    return Invite(
        row.code[:SHOWN_DIGITS],
        Role(row.role),
        row.name,
        row.uses,
        row.used,
        row.created,
        row.expires,
    )
