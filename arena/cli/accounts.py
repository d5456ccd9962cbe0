"""Commands about accounts: who may do what, the tokens that prove it, and the log of changes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.class_roster import read_roster, write_roster
from arena.cli.session import Session, plain, session_options
from arena.errors import ServerError, UsageFault
from arena.logins import bring, brought
from arena.submission import STANDARD_INPUT
from registry import Account, Event, Invite, Quota, Role
from registry.display import shown
from registry.errors import InviteRefused, MalformedName, NameRefused

if TYPE_CHECKING:
    from rich.table import Table


ROLE = click.Choice([role.value for role in Role])


@click.group()
def accounts() -> None:
    """Who submits, operates or only reads; their tokens; the log of what was changed."""


def _expires(context: click.Context, option: click.Parameter, value: datetime | None) -> Any:
    return None if value is None else value.replace(tzinfo=UTC)


_expiry_option = click.option(
    "--expires",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    callback=_expires,
    metavar="DATE",
    help="When it ends, in UTC: 2026-12-31 or 2026-12-31T18:00; never by default.",
)


@accounts.command("list")
@session_options
def show(session: Session) -> None:
    """Lists the accounts and the invitations, in the order in which they came."""
    office = session.office()
    known, invites = office.accounts(), office.invites()
    document = {
        "accounts": [_document(one) for one in known],
        "invites": [_invitation(one) for one in invites],
    }

    def human(out: Any) -> None:
        out.print(_table(known))
        if invites:
            out.print(_invites(invites))

    session.answer(document, human)


@accounts.command()
@click.argument("name")
@click.option("--role", type=ROLE, default=Role.AUTHOR.value, show_default=True)
@_expiry_option
@session_options
def add(session: Session, name: str, role: str, expires: datetime | None) -> None:
    """Makes the account NAME and its token, which is shown now and stored nowhere."""
    made = session.office(new=True).add_accounts([(name, Role(role))], expires=expires)
    _tell_token(session, name, _secret(made, name))


@accounts.command()
@click.option("--role", type=ROLE, default=Role.AUTHOR.value, show_default=True)
@click.option("--uses", type=click.IntRange(1), default=1, show_default=True, metavar="N")
@click.option("--withdraw", metavar="MARK", help="End an invitation instead (`list` has marks).")
@_expiry_option
@session_options
def invite(
    session: Session, role: str, uses: int, withdraw: str | None, expires: datetime | None
) -> None:
    """Makes a code with which others make N accounts; it is shown now and stored nowhere."""
    if withdraw is not None:
        if not session.office(new=True).withdraw_invite(withdraw):
            raise UsageFault(f"no open invitation has the mark {withdraw!r}")
        session.answer({"withdrawn": withdraw}, lambda out: out.print(f"ended  {plain(withdraw)}"))
        return
    code = session.office(new=True).invite(Role(role), uses=uses, expires=expires)
    session.answer(
        {"code": code, "role": role, "uses": uses},
        lambda out: out.print(f"code for {uses} x {role}: {plain(code)}", soft_wrap=True),
    )


@accounts.command()
@click.argument("code")
@click.argument("name")
@session_options
def redeem(session: Session, code: str, name: str) -> None:
    """Makes the account NAME with an invitation's CODE; at a server nobody needs a token for it.

    Where no answer came, the same command again gives the token of the account that was made.
    """
    if session.server is None:
        _tell_token(session, name, session.office().redeem(code, name))
        return
    token = bring(session.server, code, name)
    try:
        _tell_token(session, name, session.office().redeem(code, name, token=token))
    except (InviteRefused, MalformedName, NameRefused):
        brought(session.server, code, name)  # it was refused, and will be
        raise
    brought(session.server, code, name)


@accounts.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--invites", "as_invites", is_flag=True, help="Codes instead of tokens.")
@_expiry_option
@session_options
def import_(session: Session, file: Path, as_invites: bool, expires: datetime | None) -> None:
    """Makes an account for each line NAME[,ROLE] of FILE (- is what is piped in), all or none.

    Prints the table with their tokens, once.  With --invites a code for each, which its owner
    alone then redeems for a token.
    """
    roster = read_roster(_read(file))
    office = session.office(new=True)
    make = office.invite_all if as_invites else office.add_accounts
    made, what = make(roster, expires=expires), "code" if as_invites else "token"
    secrets = {name: _secret(made, name) for name, _ in roster}
    session.answer(
        {
            "accounts": [
                {"name": name, "role": role.value, what: secrets[name]} for name, role in roster
            ]
        },
        lambda out: click.echo(write_roster(roster, secrets, what), nl=False),
    )


@accounts.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_expiry_option
@session_options
def renew(session: Session, name: str, yes: bool, expires: datetime | None) -> None:
    """Makes a new token for the account NAME, or its first; the one before fits no longer.

    It ends when that one would have ended, unless --expires says otherwise.
    """
    office = session.office(new=True)
    if not yes and any(one.name == name and one.has_token for one in office.accounts()):
        click.confirm("There is a token, which will fit no longer.  Go on?", abort=True)
    _tell_token(session, name, office.renew_token(name, expires=expires))


@accounts.command()
@click.argument("name")
@session_options
def disable(session: Session, name: str) -> None:
    """Shuts the account NAME: its token opens nothing.  Its policies and matches stay."""
    _tell(session, session.office(new=True).disable_account(name))


@accounts.command()
@click.argument("name")
@session_options
def enable(session: Session, name: str) -> None:
    """Opens the account NAME again."""
    _tell(session, session.office(new=True).disable_account(name, disabled=False))


@accounts.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@session_options
def set_role(session: Session, name: str, role: str) -> None:
    """Gives the account NAME another ROLE."""
    _tell(session, session.office(new=True).set_role(name, Role(role)))


@accounts.command()
@click.argument("name")
@click.option("--submissions", type=click.IntRange(0), metavar="N", help="A day (UTC).")
@click.option("--minutes", type=click.FloatRange(0), metavar="N", help="Of a processor, a day.")
@session_options
def quota(session: Session, name: str, submissions: int | None, minutes: float | None) -> None:
    """Says what the account NAME may hand in on a day; what is left out has the default."""
    seconds = None if minutes is None else 60.0 * minutes
    _tell(session, session.office(new=True).set_quota(name, Quota(submissions, seconds)))


@accounts.command()
@click.option("--who", metavar="NAME", help="Only what this account changed.")
@click.option("--what", metavar="KIND", help="Only these: account, invite.made, version, season...")
@click.option("--subject", metavar="TEXT", help="Only what this was done to.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, metavar="N")
@session_options
def log(
    session: Session, who: str | None, what: str | None, subject: str | None, limit: int
) -> None:
    """Tells who changed what and when, the newest last."""
    found = session.office().events(who=who, what=what, subject=subject, limit=limit)
    session.answer({"events": [_event(one) for one in found]}, lambda out: out.print(_log(found)))


def _read(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
        return raw.decode()
    except OSError as error:
        raise UsageFault(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageFault(f"{file} is no text in UTF-8 (byte {error.start})") from error


def _secret(made: Mapping[str, str], name: str) -> str:
    """The secret that was made for a name, safe to print in a table: a server may tell anything."""
    if name not in made:
        raise ServerError(f"the server tells no secret of {name!r}: look at `arena accounts list`")
    return shown(made[name])


def _tell_token(session: Session, name: str, token: str) -> None:
    session.answer(
        {"account": name, "token": token},
        lambda out: out.print(f"token of {plain(name)}: {plain(token)}", soft_wrap=True),
    )


def _tell(session: Session, account: Account) -> None:
    session.answer(_document(account), lambda out: out.print(_table((account,))))


def _document(one: Account) -> dict[str, Any]:
    return {
        "name": one.name,
        "role": one.role.value,
        "token": one.has_token,
        "disabled": one.disabled,
        "expires": one.expires.isoformat() if one.expires else None,
        "origin": one.origin.value,
        "created": one.created.isoformat(),
        "submissions_a_day": one.quota.submissions,
        "seconds_a_day": one.quota.seconds,
    }


def _invitation(one: Invite) -> dict[str, Any]:
    return {
        "mark": one.mark,
        "role": one.role.value,
        "name": one.name,
        "uses": one.uses,
        "used": one.used,
        "created": one.created.isoformat(),
        "expires": one.expires.isoformat() if one.expires else None,
    }


def _event(one: Event) -> dict[str, Any]:
    return {
        "position": one.position,
        "moment": one.moment.isoformat(),
        "who": one.who,
        "what": one.what,
        "subject": one.subject,
        "detail": one.detail,
    }


def _when(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def _table(known: tuple[Account, ...]) -> Table:
    from rich.table import Table

    heads = ("account", "role", "came by", "token", "a day", "since (UTC)", "until (UTC)")
    table = Table(*heads, box=None)
    for one in known:
        token = "disabled" if one.disabled else "yes" if one.has_token else "no"
        words = (one.role.value, one.origin.value, token, _a_day(one.quota))
        since = f"{one.created:%Y-%m-%d}"
        table.add_row(plain(one.name), *words, since, _when(one.expires))
    return table


def _a_day(quota: Quota) -> str:
    """What was set for an account; the server that it is an account of has its own defaults."""
    submissions = "" if quota.submissions is None else f"{quota.submissions} submissions"
    time = "" if quota.seconds is None else f"{quota.seconds / 60:g} min"
    return ", ".join(filter(None, (submissions, time))) or "default"


def _invites(invites: tuple[Invite, ...]) -> Table:
    from rich.table import Table

    table = Table("invitation", "role", "for", "used", "since (UTC)", "until (UTC)", box=None)
    for one in invites:
        used, since = f"{one.used} of {one.uses}", _when(one.created)
        whom = plain(one.name) or "anybody"
        table.add_row(one.mark, one.role.value, whom, used, since, _when(one.expires))
    return table


def _log(found: tuple[Event, ...]) -> Table:
    from rich.table import Table

    table = Table("when (UTC)", "who", "what", "subject", "detail", box=None)
    for one in found:
        words = (one.who, one.what, one.subject[:24], one.detail)
        table.add_row(_when(one.moment), *(plain(word) for word in words))
    return table


COMMANDS: tuple[click.Command, ...] = (accounts,)
