"""The command that fills the paper's tables: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from arena.cli.session import (
    GameType,
    Session,
    notice,
    plain,
    progress_bar,
    session_options,
)
from arena.cli.standings import document_of
from arena.cli.walls import sandbox_options
from arena.errors import UsageFault
from arena.games import GAMES
from arena.games.protocol import Game
from arena.local import Arena
from arena.printed import estimated, marked
from oracle.grammar.genome import GRAMMARS
from oracle.grammar.starts import Start
from oracle.models.catalogue import price_of
from population.cli.reading import evaluate_runs
from population.cli.running import go_on, name_for, ready, spending_options
from population.config import OracleChoice, RunConfig, default_measuring
from population.matches import Matches
from population.members import built_in_initial
from population.oracles import Spending, first_prompt, full_model_name
from population.paper import methods
from population.records import RunRecord, RunState
from population.report import reproduction as drawn
from population.report.facts import gather
from population.report.page import page as run_page
from population.reproduction import (
    ITERATIONS,
    Row,
    brought_up_to_date,
    calls_at_most,
    choice_of,
    house_row,
    learner_row,
    own_rows,
    population_of,
    rows_to_run,
    variant_rows,
)
from population.runs import Runs
from population.scores import measured
from sandbox.choose import WallChoice

SEEDS, MATCHES = 3, 100
"""Programs or runs of a method, and matches of each with a member of the population."""
QUICK_ITERATIONS, QUICK_MATCHES = 1, 4
CHARS_A_TOKEN = 4
TOKENS_AN_ANSWER = 4_000
"""With thinking; for a rough price."""


@click.command()
@click.argument("game", type=GameType(), metavar="|".join(GAMES))
@click.option(
    "--quick",
    is_flag=True,
    help=f"One seed, {QUICK_ITERATIONS} iteration, {QUICK_MATCHES} matches: to see it work.",
)
@click.option(
    "--seeds", default=SEEDS, show_default=True, type=click.IntRange(1), help="Of every method."
)
@click.option(
    "--matches",
    "count",
    default=MATCHES,
    show_default=True,
    type=click.IntRange(4),
    metavar="N",
    help="Of everything with each member of the evaluation population.",
)
@click.option(
    "--model", metavar="MODEL", help="Also run all of the paper's variants, with this model."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the tables and figures [default: reproduced-GAME].",
)
@click.option("--workers", default=0, type=click.IntRange(0), help="Processes; 0: one per core.")
@spending_options
@sandbox_options
@session_options
def reproduce(
    session: Session,
    game: Game,
    quick: bool,
    seeds: int,
    count: int,
    model: str | None,
    out: Path | None,
    workers: int,
    spending: Spending,
    wall: WallChoice,
) -> None:
    """Plays what the paper's tables of GAME compare, and writes them with ours beside.

    Learners are trained, the grammar's CSRO is run, and with --model every variant of the paper's.
    What was done before is not done again.
    """
    if game.published is None:
        raise UsageFault(f"nobody published tables of {game.name} that could be reproduced")
    if quick:
        seeds, count = 1, QUICK_MATCHES
    folder = out or Path(f"reproduced-{game.name}")
    with session.arena(wall, workers, new=True) as arena:
        runs = Runs(session.home_path)
        rows = _simple_rows(arena, game, range(1, seeds + 1), count)
        wanted = _configurations(game, model, range(1, seeds + 1), quick)
        records = [_finished(runs, arena, config, spending) for config in wanted]
        evaluate_runs(arena, runs, records, count=count, steps=0 if quick else 4)
        rows = [brought_up_to_date(row, arena, game, population_of(game)) for row in rows]
        rows += _csro_rows(arena, runs, game, model)
        pages = {f"{one.name}.html": run_page(gather(arena, runs, one.name)) for one in records}
    written = _write(folder, game, rows, pages)
    document = {
        "game": game.name,
        "rows": [_told(row) for row in rows],
        "files": list(map(str, written)),
    }
    session.answer(document, lambda out: _say(out, rows, written))


def _simple_rows(arena: Arena, game: Game, seeds: range, count: int) -> list[Row]:
    """Learners and house entrants of the paper's tables, and the rows that nothing here fills."""
    population, names = population_of(game), {one.name for one in arena.policies(game)}
    taken = {one.beside or one.title for one in game.learners}
    with progress_bar(f"learners and house against {population.name}") as progress:
        matches = Matches(arena, game, shared=True, progress=progress)
        found = [
            learner_row(matches, learner, list(seeds), count, population)
            for learner in game.learners
        ]
        for published in methods(game.name):
            if published.method in taken or choice_of(published.method, "") is not None:
                continue
            if f"house/{published.method}" in names:
                found.append(house_row(matches, published, count, population))
            else:
                found.append(Row(published.method, published, None, "not here yet"))
    return found


def _configurations(game: Game, model: str | None, seeds: range, quick: bool) -> list[RunConfig]:
    """The runs that are wanted: the grammar's, and the paper's variants where there is a model."""
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    choices = [OracleChoice(model=Start.FULL.value)] if game.name in GRAMMARS else []
    if model:
        named = [choice_of(row.method, full_model_name(model)) for row in rows_to_run(game)]
        choices += dict.fromkeys(one for one in named if one is not None)
    matches = default_measuring(game.name)
    return [
        RunConfig(game.name, choice, iterations, seed, matches=matches)
        for choice in choices
        for seed in seeds
    ]


def _finished(runs: Runs, arena: Arena, config: RunConfig, spending: Spending) -> RunRecord:
    """A run of that configuration, wherever it was left before."""
    same = [one for one in runs.all(config.game) if one.config == config]
    name = same[0].name if same else _free_name(runs, config)
    record = runs.start(name, config)
    if record.state is not RunState.FINISHED:
        ready(arena, config.oracle, spending)
        go_on(runs, record, arena, spending)
    return runs.get(name)


def _free_name(runs: Runs, config: RunConfig) -> str:
    """A name that no other run has: as `csro run` would call it, with what tells it apart."""
    oracle = config.oracle
    name = name_for(config)
    if oracle.writes_with_a_model:
        name = f"{name}-{oracle.opponents}-{oracle.shown.replace(':', '-')}"
    taken = {one.name for one in runs.all()}
    return name if name not in taken else f"{name}-k{config.iterations}"


def _csro_rows(arena: Arena, runs: Runs, game: Game, model: str | None) -> list[Row]:
    population = population_of(game)
    finished = [
        (record, measured(arena, game, list(record.final.weights), population))
        for record in runs.all(game.name)
        if record.state is RunState.FINISHED and record.final is not None
    ]
    asked = full_model_name(model or "gemini")
    found: list[Row] = []
    for published in rows_to_run(game):
        price = _price(game, published.method, asked)
        found += variant_rows(game, published, finished, asked, price)
    return found + own_rows(game, finished)


def _price(game: Game, method: str, model: str) -> str:
    """What a run of a row would come to, roughly and in words."""
    choice = choice_of(method, model)
    assert choice is not None  # it is a row to run
    prompt = first_prompt(RunConfig(game.name, choice), built_in_initial(game))
    tokens = len(prompt.text) // CHARS_A_TOKEN
    calls = calls_at_most(choice)
    price = price_of(model.partition(":")[2])
    each = price.cost(tokens, TOKENS_AN_ANSWER) if price else None
    told = f"at most {calls:,} drafts a run"
    if each is None:
        return f"{told}, of unknown price"
    return (
        f"{told}, about ${calls * each:,.2f} at list price with prompts like the first "
        f"({tokens:,} tokens) and answers of {TOKENS_AN_ANSWER:,}"
    )


def _write(folder: Path, game: Game, rows: list[Row], pages: dict[str, str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "tables.md": drawn.markdown(rows),
        "tables.csv": drawn.table(rows),
        **pages,
        "index.html": drawn.page(game, population_of(game).name, rows, list(pages)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _told(row: Row) -> dict[str, Any]:
    def figures(source: object, told: Any) -> dict[str, Any] | None:
        names = ("pop_return", "pop_expl", "agg_score")
        return {name: told(getattr(source, name)) for name in names} if source else None

    return {
        "method": row.method,
        "paper": figures(row.published, lambda one: {"mean": one.mean, "error": one.error}),
        "ours": figures(row.ours, document_of),
        "seeds": row.ours.seeds if row.ours else 0,
        "matches_per_cell": row.ours.matches if row.ours else 0,
        "how": row.how,
        "note": row.note,
    }


def _say(out: Console, rows: list[Row], written: list[Path]) -> None:
    table = Table("method", "AggScore, paper", "AggScore, here", "seeds", box=None)
    for row in rows:
        theirs = row.published.agg_score if row.published else None
        error = "" if theirs is None or theirs.error is None else f" ± {theirs.error:.1f}"
        table.add_row(
            plain(row.method),
            "" if theirs is None else f"{theirs.mean:.1f}{error}",
            marked(estimated(row.ours.agg_score)) if row.ours else "not run",
            str(row.ours.seeds) if row.ours else "",
        )
    out.print(table)
    for path in written:
        out.print(f"wrote {path}")
    if any(row.ours is None for row in rows):
        notice("what the rows that were not run would take stands in tables.md")


COMMANDS: tuple[click.Command, ...] = (reproduce,)
