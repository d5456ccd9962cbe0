"""What an operator does that plays nothing: accounts, invitations, the log, tournaments.

Commands and servers ask the same object.  It reads no match.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from arena.errors import UsageFault
from arena.home import Home
from registry.errors import InviteRefused
from registry.events import MOST_EVENTS
from registry.invites import Invite
from registry.rights import Account, Quota, Role
from registry.tournaments import Entry, Tournament
from registry.values import Event

_MOST = 1 << 31
"""No log is longer, and no invitation is for more."""


class Office:
    """The part of `arena.seam.Operations` that needs no worker.  Safe for many threads at once.

    Args:
      home: whose registry is read and changed.
    """

    def __init__(self, home: Home) -> None:
        self.home = home

    # Accounts.

    def accounts(self) -> tuple[Account, ...]:
        """Everybody, in the order in which they came."""
        return self.home.registry.accounts()

    def invites(self) -> tuple[Invite, ...]:
        """All invitations, without their codes."""
        return self.home.registry.invites()

    def add_accounts(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> dict[str, str]:
        """Makes many accounts, all of them or none; returns the token of each by name.

        Raises:
          MalformedName, NameRefused: see `registry.accounts.Accounts.add_accounts`.
        """
        return dict(self.home.registry.add_accounts(roster, expires=zoned(expires)))

    def invite(
        self, role: Role = Role.AUTHOR, *, uses: int = 1, expires: datetime | None = None
    ) -> str:
        """Makes an invitation for anybody who has its code, and returns the code.

        Raises:
          UsageFault: nobody could use it.
        """
        if not 1 <= uses < _MOST:
            raise UsageFault(f"an invitation cannot be for {uses} accounts")
        return self.home.registry.invite(role, uses=uses, expires=zoned(expires))

    def invite_all(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> dict[str, str]:
        """Makes an invitation for each of some names; returns the code of each by name.

        Raises:
          MalformedName, NameRefused: see `registry.invites.Invites.invite_all`.
        """
        return dict(self.home.registry.invite_all(roster, expires=zoned(expires)))

    def withdraw_invite(self, mark: str) -> int:
        """Ends the invitations with this mark; returns how many were open."""
        return self.home.registry.withdraw_invite(mark)

    def redeem(self, code: str, name: str, *, token: str | None = None) -> str:
        """Makes an account with an invitation's code, and returns its token.

        Args:
          code: of the invitation.
          name: of the account.
          token: that it shall have, drawn by `registry.tokens.drawn`: then the same may be asked
            again when no answer came.  None to have one drawn; a server's client draws one itself.

        Raises:
          MalformedName, NameRefused, InviteRefused, AccountDisabled: see
            `registry.invites.Invites.redeem`.
        """
        # Whoever guesses codes does not make writers wait.
        if self.home.registry.invitation(code) is None:
            raise InviteRefused("this is not the code of an invitation; check that it is whole")
        return self.home.registry.redeem(code, name, token=token)

    def renew_token(self, name: str, *, expires: datetime | None = None) -> str:
        """Makes a token for an account; one that there was fits no longer.

        Raises:
          UnknownAuthor, NameRefused: see `registry.accounts.Accounts.renew_token`.
        """
        return self.home.registry.renew_token(name, expires=zoned(expires))

    def disable_account(self, name: str, *, disabled: bool = True) -> Account:
        """Shuts an account, or opens it again.

        Raises:
          UnknownAuthor, NameRefused: there is none that can be shut.
        """
        return self.home.registry.disable_account(name, disabled=disabled)

    def set_role(self, name: str, role: Role) -> Account:
        """Gives an account another role.

        Raises:
          UnknownAuthor, NameRefused: there is none that can have one.
        """
        return self.home.registry.set_role(name, role)

    def set_quota(self, name: str, quota: Quota) -> Account:
        """Says what an account's submissions may cost on one day.

        Raises:
          UnknownAuthor, NameRefused: there is none that can have one.
          UsageFault: an amount is negative or no number.
        """
        try:
            return self.home.registry.set_quota(name, quota)
        except ValueError as error:
            raise UsageFault(str(error)) from error

    def events(
        self,
        *,
        who: str | None = None,
        what: str | None = None,
        subject: str | None = None,
        limit: int = MOST_EVENTS,
    ) -> tuple[Event, ...]:
        """The newest entries of the audit log that fit, oldest first.

        Raises:
          UsageFault: none is asked for.
        """
        if not 1 <= limit < _MOST:
            raise UsageFault(f"{limit} entries of the log cannot be listed")
        return self.home.registry.events(who=who, what=what, subject=subject, limit=limit)

    # Tournaments.

    def tournaments(self) -> tuple[Tournament, ...]:
        """All tournaments, in the order in which they close."""
        return self.home.registry.tournaments()

    def tournament(self, name: str) -> Tournament:
        """The tournament of that name.

        Raises:
          UnknownTournament: there is none.
        """
        return self.home.registry.tournament(name)

    def counting(self, name: str) -> tuple[Entry, ...]:
        """The entries of a tournament that count: those that were frozen, or as they stand now.

        Raises:
          UnknownTournament: there is none.
        """
        from arena.contest.final import counting  # with all that plays, which others do without

        return counting(self.home, self.tournament(name))

    def certificate(self, name: str, *, sources: bool = False) -> dict[str, Any]:
        """The certificate that was issued for a tournament.

        Args:
          name: of the tournament.
          sources: whether it shall hold the sources of its policies.

        Raises:
          UnknownTournament, UsageFault, TournamentConflict: there is none, or none yet; see
            `arena.contest.issuing.issued`.
        """
        from arena.contest.issuing import issued, policies_in, with_sources

        document = issued(self.home, name)
        if not sources:
            return document
        known = self.home.registry.by_digests(policies_in(document))
        return with_sources(document, {digest: one.payload for digest, one in known.items()})

    def move_closing(self, name: str, closes: datetime | None = None) -> Tournament:
        """Lets a tournament close at another moment; None for now, by this machine's clock.

        Raises:
          UnknownTournament, TournamentConflict: see `registry.tournaments.Tournaments`.
        """
        return self.home.registry.move_closing(name, zoned(closes) or datetime.now(UTC))


def zoned(told: datetime | None) -> datetime | None:
    """A moment, which is to be the same everywhere.

    Raises:
      UsageFault: it has no zone.
    """
    if told is not None and told.tzinfo is None:
        raise UsageFault(f"{told.isoformat()} could be any hour: say its zone, as +00:00 for UTC")
    return told
