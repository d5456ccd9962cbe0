"""Accounts: whom a token belongs to, what it allows and how long.

An account of the role author is an author (`registry.authors`): its name is the part of its
policies' names before the slash.  Operators and readers have names from the same pot, so that
nobody reads like anybody else.  Whose token it is follows from its hash alone; nobody has to say
a name.

The operator with write access to the registry (the command line) needs no account.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from registry import naming, rows, tokens
from registry.authors import check_new_names, insert_author
from registry.errors import (
    AccountDisabled,
    RegistryCorrupt,
    TokenExpired,
    UnknownAuthor,
)
from registry.events import note
from registry.part import Part
from registry.rights import Account, Quota, Role
from registry.schema import AuthorRow
from registry.values import Origin

__all__ = ["Account", "Accounts", "Quota", "Role"]

_ROLES = frozenset(Role)


class Accounts(Part):
    """Tokens, roles, expiry and quotas."""

    __slots__ = ()

    def account_of(self, token: str, *, now: datetime | None = None) -> Account | None:
        """Whose token this is; None where it is nobody's.

        Blanks around it do not count.  How long the answer takes tells nothing of a right one:
        what is looked up is its hash.

        Args:
          token: as it was shown.
          now: the moment in question.

        Raises:
          TokenExpired: it fitted until its time was over.
          AccountDisabled: the operator has shut the account.
        """
        wanted = tokens.hashed(token)
        with self.database.reading() as session, rows.legible(session):
            statement = select(AuthorRow).where(col(AuthorRow.token) == wanted)
            row = session.exec(statement).first()
            if row is None or not hmac.compare_digest(row.token, wanted):
                return None
            account = _account(session, row)
        if account.disabled:
            raise AccountDisabled(f"the account {account.name!r} is disabled: ask the operator")
        if account.expires is not None and account.expires <= (now or datetime.now(UTC)):
            raise TokenExpired(
                f"the token of {account.name!r} expired on "
                f"{account.expires:%Y-%m-%d at %H:%M} UTC: ask the operator for a new one"
            )
        return account

    def account(self, name: str) -> Account | None:
        """The account of exactly that name; None where there is none."""
        if not naming.is_author(name):
            return None
        with self.database.reading() as session, rows.legible(session):
            row = session.get(AuthorRow, name)
            return None if row is None else _account(session, row)

    def accounts(self) -> tuple[Account, ...]:
        """Everybody, in the order in which they came."""
        statement = select(AuthorRow).order_by(col(AuthorRow.created), col(AuthorRow.name))
        with self.database.reading() as session, rows.legible(session):
            return tuple(_account(session, row) for row in session.exec(statement))

    def add_accounts(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> Mapping[str, str]:
        """Makes many accounts in one transaction: all of them, or none.

        Args:
          roster: name and role of each.
          expires: from when on their tokens fit no longer.

        Returns:
          The token of each by name.  They are stored nowhere.

        Raises:
          MalformedName: a name is not written as one can be.
          NameRefused: one is taken or promised, the arena's own, reads like another's, or is
            there twice.
        """
        names = naming.check_roster([name for name, _ in roster])
        made = {name: tokens.drawn() for name in names}
        now = datetime.now(UTC)
        with self.database.writing() as session:
            check_new_names(session, names, now)
            for name, role in roster:
                row = insert_author(session, name, now, Origin.OPERATOR, tokens.hashed(made[name]))
                row.role, row.expires = role.value, expires
                session.add(row)
            note(
                session, self.actor, "account.added", [(name, role.value) for name, role in roster]
            )
        return made

    def renew_token(
        self, name: str, *, expires: datetime | None = None, now: datetime | None = None
    ) -> str:
        """Makes a token for an account that is there; one that there was fits no longer.

        Args:
          name: of the account.
          expires: from when on the new one fits no longer; None for when the old one would have
            ended, or never where that is over.
          now: the moment in question.

        Returns:
          The token, as for `claim_author`.

        Raises:
          UnknownAuthor: there is no account of exactly that name.
          NameRefused: it is the arena's own, for which no token is made.
        """
        token = tokens.drawn()
        with self.database.writing() as session:
            row = _there(session, name)
            if expires is None and row.expires and row.expires > (now or datetime.now(UTC)):
                expires = row.expires
            row.token, row.expires = tokens.hashed(token), expires
            session.add(row)
            until = "" if expires is None else f"until {expires.isoformat()}"
            note(session, self.actor, "account.renewed", [(name, until)])
        return token

    def disable_account(self, name: str, *, disabled: bool = True) -> Account:
        """Shuts an account, or opens it again; what it has handed in stays.

        Raises:
          UnknownAuthor: there is no account of exactly that name.
          NameRefused: it is the arena's own.
        """
        with self.database.writing() as session:
            row = _there(session, name)
            if row.disabled != disabled:
                row.disabled = disabled
                session.add(row)
                what = "account.disabled" if disabled else "account.enabled"
                note(session, self.actor, what, [(name, "")])
            return _account(session, row)

    def set_role(self, name: str, role: Role) -> Account:
        """Gives an account another role.

        Raises:
          UnknownAuthor: there is no account of exactly that name.
          NameRefused: it is the arena's own.
        """
        with self.database.writing() as session:
            row = _there(session, name)
            if row.role != role.value:
                note(session, self.actor, "account.role", [(name, f"{row.role} to {role.value}")])
                row.role = role.value
                session.add(row)
            return _account(session, row)

    def set_quota(self, name: str, quota: Quota) -> Account:
        """Says what an account's submissions may cost on one day.

        Raises:
          UnknownAuthor: there is no account of exactly that name.
          NameRefused: it is the arena's own.
          ValueError: an amount is negative.
        """
        if (quota.submissions or 0) < 0 or not (quota.seconds or 0.0) >= 0.0:
            raise ValueError(f"{quota} is no quota")
        with self.database.writing() as session:
            row = _there(session, name)
            row.day_submissions, row.day_seconds = quota.submissions, quota.seconds
            session.add(row)
            said = f"{quota.submissions} submissions, {quota.seconds} seconds a day"
            note(session, self.actor, "account.quota", [(name, said.replace("None", "default"))])
            return _account(session, row)


def _there(session: Session, name: str) -> AuthorRow:
    """The row of an account that may be changed."""
    naming.refuse_reserved(name)
    row = session.get(AuthorRow, name) if naming.is_author(name) else None
    if row is None:
        raise UnknownAuthor(
            f"there is no author {name!r} in the registry {rows.place(session)}; a new one claims "
            "the name"
        )
    return row


def _account(session: Session, row: AuthorRow) -> Account:
    sound = row.role in _ROLES and row.origin in frozenset(Origin)
    if not sound or row.skeleton != naming.skeleton(row.name):
        raise RegistryCorrupt(
            f"the account {row.name!r} in the registry {rows.place(session)} is not what was "
            "stored: the registry was damaged or edited; restore it from a copy"
        )
    return Account(
        row.name,
        Role(row.role),
        row.created,
        row.expires,
        bool(row.disabled),
        bool(row.token),
        Origin(row.origin),
        Quota(row.day_submissions, row.day_seconds),
    )
