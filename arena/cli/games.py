"""Commands about games: games, rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from arena.cli.session import GameType, Session, answer_options, plain
from arena.games import GAMES
from arena.games.protocol import Game
from arena.house.population import default_population
from sandbox.box.allowed import ALLOWED_MODULES
from sandbox.values import Limits


@click.command()
@answer_options
def games(session: Session) -> None:
    """Lists the games."""
    documents = [_summary(game) for game in GAMES.values()]

    def human(out: Console) -> None:
        heads = (
            "game",
            "title",
            "rules",
            "length",
            "unit",
            "house entrants",
            "evaluation population",
        )
        table = Table(*heads, box=None)
        for one in documents:
            table.add_row(
                one["name"],
                one["title"],
                str(one["version"]),
                f"{one['length']:,} {one['step']}s",
                one["unit"],
                str(len(one["house"])),
                one["population"],
            )
        out.print(table)

    session.answer({"games": documents}, human)


def _summary(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "version": game.version,
        "length": game.length,
        "step": game.step,
        "unit": game.unit,
        "house": [entrant.name for entrant in game.house()],
        "population": default_population(game.name).name,
    }


@click.command()
@click.argument("game", type=GameType(), metavar="|".join(GAMES))
@answer_options
def rules(session: Session, game: Game) -> None:
    """Prints what an author needs to know to write a policy of GAME."""
    document = _contract(game)
    session.answer(document, lambda out: _explain(out, game, document))


def _contract(game: Game) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "version": game.version,
        "rules": game.rules,
        "class": game.contract.class_name,
        "methods": dict(game.contract.methods),
        "actions": list(game.actions),
        "examples": [
            {"told": one.told, "method": one.method, "observation": one.observation}
            for one in game.examples
        ],
        "imports": sorted(ALLOWED_MODULES),
        "limits": asdict(Limits()),
        "starter": str(game.starter.path),
    }


def _explain(out: Console, game: Game, document: dict[str, Any]) -> None:
    limits = Limits()
    out.print(plain(game.rules))
    out.print("[bold]## What it may use[/]\n")
    methods = ", ".join(
        f"{name} ({count} argument{'s' * (count != 1)} after self)"
        for name, count in game.contract.methods.items()
    )
    table = Table(box=None, show_header=False)
    for what, value in (
        ("class", game.contract.class_name),
        ("methods", methods),
        ("actions", ", ".join(game.actions)),
        ("imports", ", ".join(document["imports"])),
        ("source", f"at most {limits.source_bytes:,} bytes of UTF-8"),
        (
            "time",
            f"{limits.load_seconds:g} s to load, {limits.act_seconds:g} s a call, "
            f"{limits.match_seconds:g} s a match, of a processor",
        ),
        ("memory", f"{limits.memory_mib} MiB"),
        ("starter", document["starter"]),
        ("try it", f"arena check FILE --game {game.name}"),
    ):
        table.add_row(what, plain(value))
    out.print(table)


COMMANDS: tuple[click.Command, ...] = (games, rules)
