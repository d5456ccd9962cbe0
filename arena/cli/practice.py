"""Practice: try."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.entrants import read, rejected
from arena.cli.matches import say_match
from arena.cli.references import REF
from arena.cli.session import Session, game_option, notice, plain, session_options
from arena.cli.walls import sandbox_options
from arena.rejection import Rejection

if TYPE_CHECKING:
    from rich.console import Console

    from arena.games.protocol import Game
    from arena.practice import PracticeMatch
    from sandbox.choose import WallChoice

HERE = "this policy"
MOST_LINES = 10
"""Of what a match printed, that are shown from its beginning and from its end."""


@click.command(name="try")
@click.argument("file", type=click.Path(path_type=Path))
@game_option
@click.option(
    "--against",
    multiple=True,
    required=True,
    metavar="REF",
    type=REF,
    help="Whom it plays; may be repeated.",
)
@click.option(
    "--matches", default=2, show_default=True, type=click.IntRange(1, 100), help="Per opponent."
)
@click.option(
    "--seed", default=1, show_default=True, help="Cards and random choices follow from it."
)
@click.option(
    "--all", "everything", is_flag=True, help="Every throw or hand, and every printed line."
)
@sandbox_options
@session_options
def try_(
    session: Session,
    file: Path,
    game: Game,
    against: tuple[str, ...],
    matches: int,
    seed: int,
    everything: bool,
    wall: WallChoice,
) -> None:
    """Plays a policy FILE (- is what is piped in) against others, and shows what it prints.

    Nothing is registered or stored, and no home is made.  Practice matches are of their own: they
    tell nothing of those that will count.  The worst of them is retold.
    """
    source = read(session, file)
    with session.practice(wall) as arena:
        for ref in against:  # a mistyped name is told before a sandbox is looked for
            arena.policy(ref, game)
        notice(f"sandbox: {arena.wall}")
        found = arena.practise(source, game, against, matches, seed=seed)
    if isinstance(found, Rejection):
        rejected(session, found)
    session.answer(
        {"game": game.name, "seed": seed, "matches": [_document(one) for one in found]},
        lambda out: _say(out, game, found, everything=everything),
    )
    if any(one.result.fault_seat == one.seat for one in found):
        sys.exit(1)


def _document(one: PracticeMatch) -> dict[str, Any]:
    return {
        "opponent": one.opponent,
        "seat": one.seat,
        "return": one.value,
        "termination": one.result.termination.value,
        "fault_seat": one.result.fault_seat,
        "fault_message": one.result.fault_message,
        "printed": one.printed,
        "events": [dict(event) for event in one.account.events],
    }


def _say(out: Console, game: Game, found: Sequence[PracticeMatch], *, everything: bool) -> None:
    from arena.replay import match_sheet

    for opponent in dict.fromkeys(one.opponent for one in found):
        values = [one.value for one in found if one.opponent == opponent]
        told = ", ".join(f"{value:+.0f}" for value in values)
        mean = sum(values) / len(values)
        out.print(f"[bold]{mean:+8.1f}[/] {game.unit} a match against {plain(opponent)} ({told})")
    worst = min(found, key=lambda one: one.value)
    seats = (HERE, worst.opponent) if worst.seat == 0 else (worst.opponent, HERE)
    title = f"the worst of {len(found)}:"
    sheet = match_sheet(game, seats, worst.result, worst.account, title, everything=everything)
    out.print()
    say_match(out, sheet, worst.account)
    for one in found:
        if one.printed:
            out.print(f"\n[bold]printed[/] against {plain(one.opponent)} in seat {one.seat}:")
            out.print(plain(_clipped(one.printed, everything=everything)), soft_wrap=True)


def _clipped(printed: str, *, everything: bool) -> str:
    """The first and last lines of many, and how many are left out."""
    lines = printed.splitlines()
    left_out = len(lines) - 2 * MOST_LINES
    if everything or left_out <= 0:
        return printed
    told = f"... {left_out:,} more lines; --all shows them ..."
    return "\n".join([*lines[:MOST_LINES], told, *lines[-MOST_LINES:]])


COMMANDS: tuple[click.Command, ...] = (try_,)
