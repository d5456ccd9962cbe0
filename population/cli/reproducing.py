"""The command that fills the paper's tables: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.session import GameType, Session, session_options
from arena.cli.walls import sandbox_options
from arena.cli.workers import workers_options
from arena.errors import UsageFault
from arena.games import GAMES
from population.cli.asking import SPENDING, refuse_given
from population.cli.running import spending_options

if TYPE_CHECKING:
    from arena.executors import Workers
    from arena.games.protocol import Game
    from population.oracles import Spending
    from sandbox.choose import WallChoice

SEEDS, MATCHES, STEPS = 3, 100, 4
"""Programs or runs of a method, matches of each with a member of the population, and those of the
meta-strategies of earlier iterations."""
QUICK_SEEDS, QUICK_ITERATIONS, QUICK_MATCHES = 1, 1, 4


@click.command()
@click.argument("game", type=GameType(), metavar="|".join(GAMES))
@click.option(
    "--quick",
    is_flag=True,
    help=f"{QUICK_ITERATIONS} iteration, {QUICK_SEEDS} seed and {QUICK_MATCHES} matches where no "
    "other number is given: to see it work.",
)
@click.option(
    "--seeds", type=click.IntRange(1), help=f"Of every method.  [default: {SEEDS}]", metavar="N"
)
@click.option(
    "--matches",
    "count",
    type=click.IntRange(4),
    metavar="N",
    help=f"Of everything with each member of the evaluation population.  [default: {MATCHES}]",
)
@click.option(
    "--model", metavar="MODEL", help="Also run all of the paper's variants, with this model."
)
@click.option(
    "--no-runs",
    "without_runs",
    is_flag=True,
    help="Start no CSRO; fill the other rows, and those of runs that are finished.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the tables and figures [default: reproduced-GAME].",
)
@workers_options
@spending_options
@sandbox_options
@session_options
def reproduce(
    session: Session,
    game: Game,
    quick: bool,
    seeds: int | None,
    count: int | None,
    model: str | None,
    without_runs: bool,
    out: Path | None,
    workers: Workers,
    spending: Spending,
    wall: WallChoice,
) -> None:
    """Plays what the paper's tables of GAME compare, and writes them with ours beside.

    Learners are trained, the grammar's CSRO is run, and with --model every variant of the paper's.
    What was done before is not done again.  Limits on spending hold for all runs of the model
    together, with what they spent before.
    """
    # Its help would take ten times as long.
    from oracle.grammar.starts import STARTS
    from population.cli.filling import Wanted, fill
    from population.reproduction import FIRST_SEED, ITERATIONS

    if game.published is None:
        raise UsageFault(f"nobody published tables of {game.name} that could be reproduced")
    if model in STARTS:
        raise UsageFault(f"--model is for language models; CSRO by {model} needs no option")
    if model and without_runs:
        raise UsageFault("--model runs CSRO, and --no-runs does not: give one of them")
    if not model:
        refuse_given("without --model nobody is asked", *SPENDING)
    seeds = seeds or (QUICK_SEEDS if quick else SEEDS)
    wanted = Wanted(
        game,
        range(FIRST_SEED, FIRST_SEED + seeds),
        count or (QUICK_MATCHES if quick else MATCHES),
        0 if quick else STEPS,
        0 if without_runs else QUICK_ITERATIONS if quick else ITERATIONS,
        model,
    )
    fill(session, wanted, out or Path(f"reproduced-{game.name}"), workers, spending, wall)


COMMANDS: tuple[click.Command, ...] = (reproduce,)
