"""Accounts, and what each may do: the one rule that the server, the pages and the commands ask.

Nothing here reads a database or a clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from registry.naming import author_of
from registry.values import Origin, Spent


class Role(enum.StrEnum):
    """What an account is for."""

    OPERATOR = "operator"
    """Runs the tournament: may do everything."""
    AUTHOR = "author"
    """Hands policies in, under the account's own name."""
    READER = "reader"
    """Looks, and changes nothing."""


class Action(enum.StrEnum):
    """What somebody may want to do."""

    READ = "read"
    """See standings, matches and sources that take part."""
    SUBMIT = "submit"
    """Hand in a policy; the name is the policy's."""
    WITHDRAW = "withdraw"
    """Take a policy out of round robins; the name is the policy's."""
    PLAY = "play"
    """Have matches played, which costs processor time."""
    OPERATE = "operate"
    """Accounts, seasons, tournaments, the audit log."""


_OWN = frozenset({Action.SUBMIT, Action.WITHDRAW})
_OF_AUTHORS = frozenset({Action.READ, Action.PLAY})


@dataclass(frozen=True, slots=True)
class Quota:
    """What the submissions of one account may cost on one day (in UTC).

    Attributes:
      submissions: how many; None where nothing was set for the account.
      seconds: of processor time; None where nothing was set for the account.
    """

    submissions: int | None = None
    seconds: float | None = None

    def or_else(self, default: Quota) -> Quota:
        """This one; what is not set in it as in another."""
        return Quota(
            default.submissions if self.submissions is None else self.submissions,
            default.seconds if self.seconds is None else self.seconds,
        )


@dataclass(frozen=True, slots=True)
class Account:
    """Who shows a token.

    Attributes:
      name: as it is written; of an author, the part of a policy's name before the slash.
      role: what the account is for.
      created: when it was made.
      expires: from when on its token fits no longer; None where it always does.
      disabled: whether the operator has shut it.
      has_token: whether a token was made.
      origin: by which door it came.
      quota: what was set for this account.
    """

    name: str
    role: Role
    created: datetime
    expires: datetime | None = None
    disabled: bool = False
    has_token: bool = True
    origin: Origin = Origin.OPERATOR
    quota: Quota = Quota()


def may(account: Account | None, action: Action, name: str = "") -> bool:
    """Whether an account may do something.

    Args:
      account: who asks; None for somebody without one, who may do nothing.
      action: what.
      name: author/name (or author/name@number, or the author alone) of the policy that is meant.
    """
    if account is None or account.disabled:
        return False
    if account.role is Role.OPERATOR:
        return True
    if account.role is Role.READER:
        return action is Action.READ
    return action in _OF_AUTHORS or (action in _OWN and author_of(name) == account.name)


def over_quota(spent: Spent, account: Quota, default: Quota) -> str:
    """Why an account may hand in nothing more today; "" where it may.

    Args:
      spent: on that day, before this submission.
      account: what was set for the account.
      default: for what was not.
    """
    allowed = account.or_else(default)
    if allowed.submissions is not None and spent.submissions >= allowed.submissions:
        return (
            f"{spent.submissions} submissions were made today (UTC), of {allowed.submissions} that "
            "are allowed"
        )
    if allowed.seconds is not None and spent.seconds >= allowed.seconds:
        return (
            f"{spent.seconds:.0f} seconds of processor time were used today (UTC), of "
            f"{allowed.seconds:.0f} that are allowed"
        )
    return ""
