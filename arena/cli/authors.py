"""Commands about authors: who there is, and the tokens with which they submit through the pages."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from arena.cli.session import Session, plain, session_options
from registry.values import Author


@click.group()
def author() -> None:
    """Who submits, and the tokens that prove it on the pages."""


@author.command("list")
@session_options
def show(session: Session) -> None:
    """Lists the authors, in the order in which they came."""
    authors = session.roster().authors()
    session.answer(
        {"authors": [_document(one) for one in authors]}, lambda out: out.print(_table(authors))
    )


@author.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@session_options
def token(session: Session, name: str, yes: bool) -> None:
    """Makes a token for the author NAME, with which to submit through the pages.

    It is shown now and stored nowhere.  One that there was before fits no longer.
    """
    arena = session.arena(new=True)
    if not yes and any(one.name == name and one.has_token for one in arena.authors()):
        click.confirm("The author has a token, which will fit no longer.  Go on?", abort=True)
    made = arena.author_token(name)
    session.answer(
        {"author": name, "token": made},
        lambda out: out.print(f"token of {plain(name)}: {made}", soft_wrap=True),
    )


def _document(one: Author) -> dict[str, Any]:
    return {
        "name": one.name,
        "token": one.has_token,
        "origin": one.origin.value,
        "created": one.created.isoformat(),
    }


def _table(authors: tuple[Author, ...]) -> Table:
    table = Table("author", "came by", "token", "since (UTC)", box=None)
    for one in authors:
        table.add_row(
            plain(one.name),
            one.origin.value,
            "yes" if one.has_token else "no",
            one.created.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00"),
        )
    return table


COMMANDS: tuple[click.Command, ...] = (author,)
