"""The command that lists runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.cli.session import Session, optional_game, plain, session_options
from population.cli.advice import advise, starting
from population.cli.keeping import runs_of

if TYPE_CHECKING:
    from rich.console import Console

    from arena.games.protocol import Game
    from population.records import RunRecord


@click.command(name="list")
@optional_game
@session_options
def list_(session: Session, game: Game | None) -> None:
    """Lists runs, oldest first."""
    session.roster()  # says so where there is no home
    runs = runs_of(session)
    records = runs.all(game.name if game else None)
    done = {record.name: runs.done(record.name) for record in records}

    def human(out: Console) -> None:
        if not records:
            of = f" of {game.name}" if game else ""
            advise(out, f"no runs{of} yet; start one", starting(session, game))
            return
        from rich.table import Column, Table

        # Names are there to be typed: of what has no room nothing is dropped.
        titles = ("run", "game", "oracle", "seed", "K", "state", "started")
        columns = (Column(title, overflow="fold") for title in titles)
        table = Table(*columns, box=None, pad_edge=False)
        for one in records:
            table.add_row(
                one.name,
                one.config.game,
                plain(one.config.variant),
                str(one.config.seed),
                f"{done[one.name]} of {one.config.iterations}",
                plain(f"{one.state.value} {one.note}".strip()),
                one.created.isoformat(sep=" ", timespec="minutes"),
            )
        out.print(table)

    session.answer({"runs": [summary_of(one, done[one.name]) for one in records]}, human)


def summary_of(record: RunRecord, done: int) -> dict[str, Any]:
    """A run in a few words, for JSON."""
    return {
        "run": record.name,
        "game": record.config.game,
        "variant": record.config.variant,
        "edition": record.config.edition or None,
        "seed": record.config.seed,
        "iterations": record.config.iterations,
        "done": done,
        "state": record.state.value,
        "note": record.note,
        "created": record.created.isoformat(),
        "mixture": record.mixture or None,
    }


COMMANDS: tuple[click.Command, ...] = (list_,)
