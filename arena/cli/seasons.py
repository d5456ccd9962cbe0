"""Commands about seeds: which season is open, and its key once it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.cli.session import Session, session_options
from registry.values import Season

if TYPE_CHECKING:
    from rich.console import Console


@click.group()
def seed() -> None:
    """The secret that all seeds and deals follow from."""


@seed.command()
@session_options
def show(session: Session) -> None:
    """Lists the seasons with the commitments to their keys, and the keys of those that are over."""
    seasons = session.roster().seasons()
    session.answer(
        {"seasons": [_document(one) for one in seasons]}, lambda out: _list(out, seasons)
    )


@seed.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@session_options
def reveal(session: Session, yes: bool) -> None:
    """Closes the season: prints its key, and draws a new one for whatever is played from now on.

    With the key anybody can work out every seed and deal of the season and check its matches.
    """
    arena = session.arena()
    if not yes:
        click.confirm("The key cannot be made secret again.  Close the season?", abort=True)
    closed, opened = arena.reveal_season()
    session.answer(
        {"closed": _document(closed), "opened": _document(opened)},
        lambda out: _say(out, closed, opened),
    )


def _document(season: Season) -> dict[str, Any]:
    return {
        "number": season.number,
        "commitment": season.commitment,
        "opened": season.opened.isoformat(),
        "closed": season.closed.isoformat() if season.closed else None,
        "given": season.given,
        "key": _key(season),
    }


def _key(season: Season) -> str | None:
    """The key of a season that is over; that of an open one is nobody's business."""
    return season.key.hex() if season.key is not None and season.closed else None


def _list(out: Console, seasons: tuple[Season, ...]) -> None:
    for season in seasons:
        closed = season.closed.isoformat(timespec="seconds") if season.closed else "open"
        key = _key(season) or ("given with --seed-key" if season.given else "secret")
        opened = season.opened.isoformat(timespec="seconds")
        out.print(f"[bold]season {season.number}[/]  from {opened} to {closed}", soft_wrap=True)
        out.print(f"  commitment  {season.commitment}", soft_wrap=True)
        out.print(f"  key         {key}", soft_wrap=True)


def _say(out: Console, closed: Season, opened: Season) -> None:
    out.print(f"season {closed.number} is closed; its key: {_key(closed)}", soft_wrap=True)
    out.print(f"season {opened.number} is open; commitment: {opened.commitment}", soft_wrap=True)


COMMANDS: tuple[click.Command, ...] = (seed,)
