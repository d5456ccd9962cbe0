"""Fills the rows of the paper's tables: runs what is missing, measures it, writes what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from itertools import count as count_from
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from arena.cli.session import Session, notice, plain, progress_bar
from arena.cli.standings import document_of
from arena.errors import ArenaError
from arena.executors import Workers
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.local import Arena
from arena.printed import estimated, marked
from oracle.grammar.genome import GRAMMARS
from oracle.grammar.starts import Start
from oracle.models.budget import NOTHING, Spent
from oracle.models.catalogue import price_of
from oracle.models.errors import BudgetSpent, ModelError
from population import evolution
from population.agents import agent_rows, is_agents
from population.cli.keeping import folders_for, writing
from population.cli.reading import evaluate_runs
from population.cli.working import go_on, name_for, ready
from population.config import OracleChoice, RunConfig
from population.edition import told_apart
from population.matches import Matches
from population.members import built_in_initial
from population.network_rows import METHOD, network_rows
from population.oracles import Spending, check_model, full_model_name, journal_of
from population.paper import methods
from population.previews import first_prompt
from population.records import RunRecord, RunState
from population.report import reproduction as drawn
from population.report.facts import gather, sigmas_of
from population.report.page import page as run_page
from population.reproduction import (
    Row,
    brought_up_to_date,
    calls_at_most,
    choice_of,
    house_row,
    learner_row,
    own_rows,
    rows_to_run,
    run_of,
    variant_rows,
)
from population.runs import Runs, had_runs
from population.scores import Measured, measured
from sandbox.choose import WallChoice

CHARS_A_TOKEN = 4
TOKENS_AN_ANSWER = 4_000
"""With thinking; for a rough price."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be reproduced.

    Attributes:
      game: whose tables.
      seeds: of the programs or runs of every method.
      matches: of everything with each member of the evaluation population.
      steps: those of the meta-strategies of earlier iterations.
      iterations: of each run of CSRO; 0 starts none.
      model: that runs all of the paper's variants too; None: the grammar alone.
    """

    game: Game
    seeds: range
    matches: int
    steps: int
    iterations: int
    model: str | None


def fill(
    session: Session,
    wanted: Wanted,
    folder: Path,
    workers: Workers,
    spending: Spending,
    wall: WallChoice,
) -> None:
    """Runs what is missing, measures it, writes tables and figures, and says what stands in them.

    Raises:
      UsageFault: a model cannot be asked, or the folder not be made.
      BudgetSpent, ModelError: the tables were written, with all that was finished.
    """
    game, count = wanted.game, wanted.matches
    configurations = _configurations(wanted)
    check_models(_unfinished(session.home_path, configurations), spending)
    folders_for(folder)
    with session.arena(wall, workers, new=True) as arena:
        runs = Runs(session.home_path)
        rows = _simple_rows(arena, game, wanted.seeds, count)
        records, stopped = _finished(runs, arena, configurations, spending)
        evaluate_runs(arena, runs, records, count=count, steps=wanted.steps)
        rows = [brought_up_to_date(row, arena, game, default_population(game.name)) for row in rows]
        finished = _measured(arena, runs, game)
        rows += _csro_rows(game, finished, wanted.model)
        curves = _over_iterations(runs, finished)
        pages = {f"{one.name}.html": run_page(gather(arena, runs, one.name)) for one in records}
    written = _write(folder, game, rows, curves, pages)
    document = {
        "game": game.name,
        "rows": [_told(row) for row in rows],
        "files": list(map(str, written)),
    }
    session.answer(document, lambda out: _say(out, rows, written))
    if stopped is not None:  # the tables have all that was finished
        raise stopped


def check_models(wanted: Sequence[RunConfig], spending: Spending) -> None:
    """Finds out before anything is played whether the models can be asked, each once.

    Raises:
      UsageFault, ModelError: as of `population.oracles.check_model`.
    """
    for model in {one.oracle.model: one.oracle for one in wanted}.values():
        check_model(model, spending)


def _simple_rows(arena: Arena, game: Game, seeds: range, count: int) -> list[Row]:
    """Learners and house entrants of the paper's tables, and the rows that nothing here fills."""
    population, names = default_population(game.name), {one.name for one in arena.policies(game)}
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
            if published.method == METHOD and game.tensors is not None:
                continue
            if f"house/{published.method}" in names:
                found.append(house_row(matches, published, count, population))
            elif not is_agents(published.method):
                found.append(Row(published.method, published, None, "not here yet"))
    return found + agent_rows(arena, game, population)


def _configurations(wanted: Wanted) -> list[RunConfig]:
    """The runs that are wanted: the grammar's, and the paper's variants where there is a model."""
    if not wanted.iterations:
        return []
    game = wanted.game
    choices = [OracleChoice(model=Start.FULL.value)] if game.name in GRAMMARS else []
    if wanted.model:
        named = [choice_of(row.method, full_model_name(wanted.model)) for row in rows_to_run(game)]
        choices += dict.fromkeys(one for one in named if one is not None)
    return [
        run_of(game, choice, seed, wanted.iterations) for choice in choices for seed in wanted.seeds
    ]


def _finished(
    runs: Runs, arena: Arena, wanted: Sequence[RunConfig], spending: Spending
) -> tuple[list[RunRecord], ArenaError | None]:
    """The runs of those configurations, wherever they were left before, until a model gives out.

    Returns:
      Those that are finished, and why there are no more; None where all are.
    """
    found: list[RunRecord] = []
    stopped: ArenaError | None = None
    for config in wanted:
        record = _known(runs, config)
        if record is None or record.state is not RunState.FINISHED:
            if stopped is not None:
                continue  # those behind it may be finished
            record = record or runs.start(_free_name(runs, config), config)
            try:
                ready(arena, config.oracle, spending)
                go_on(runs, record, arena, spending, _elsewhere(runs, wanted, record))
            except (BudgetSpent, ModelError) as stop:
                stopped = stop
                continue
        found.append(runs.get(record.name))
    return found, stopped


def _known(runs: Runs, config: RunConfig) -> RunRecord | None:
    """The run of that configuration, a finished one first, wherever it was left; None: never begun.

    Several have one where `csro run` was given names.  One that an earlier grammar or earlier
    prompts began will do, as nothing is paid for twice: tables tell whose it is.
    """
    same = [one for one in runs.all(config.game) if one.config.told == config.told]

    def rank(one: RunRecord) -> tuple[bool, bool]:
        return one.state is not RunState.FINISHED, bool(told_apart(one.config))

    return min(same, key=rank, default=None)


def _unfinished(folder: Path, wanted: Sequence[RunConfig]) -> list[RunConfig]:
    """Those of the configurations that have no finished run in a home's folder."""
    if not had_runs(folder):
        return list(wanted)
    runs = Runs(folder)
    known = {config: _known(runs, config) for config in wanted}
    return [
        config
        for config, record in known.items()
        if record is None or record.state is not RunState.FINISHED
    ]


def _elsewhere(runs: Runs, wanted: Sequence[RunConfig], record: RunRecord) -> Spent:
    """What all others that are wanted spent of the limits that a run shares with them."""
    others = [
        journal_of(runs, one.name).spent()
        for one in runs.all(record.config.game)
        if one.config.told in wanted and one.name != record.name
    ]
    spent = sum(others, NOTHING)
    if spent.calls:
        notice(f"spent on the other runs of these tables: {spent}")
    return spent


def _free_name(runs: Runs, config: RunConfig) -> str:
    """A name that no other run has: as `csro run` would call it, with what tells it apart."""
    oracle = config.oracle
    name = name_for(config)
    if oracle.writes_with_a_model:
        name = f"{name}-{oracle.opponents}-{oracle.shown.replace(':', '-')}"
    taken = {one.name for one in runs.all()}
    longer = f"{name}-k{config.iterations}"
    names = chain((name, longer), (f"{longer}-{number}" for number in count_from(2)))
    return next(one for one in names if one not in taken)


def _measured(arena: Arena, runs: Runs, game: Game) -> list[tuple[RunRecord, Measured]]:
    """All finished runs of the game, with what is known of their members."""
    population = default_population(game.name)
    return [
        (record, measured(arena, game, list(record.final.weights), population))
        for record in runs.all(game.name)
        if record.state is RunState.FINISHED and record.final is not None
    ]


def _over_iterations(runs: Runs, finished: Sequence[tuple[RunRecord, Measured]]) -> drawn.Curves:
    """How their scores evolved, those that differ only in their seed as one."""
    scored = {
        record.name: evolution.scored(known, sigmas_of(record, runs.iterations(record.name)))
        for record, known in finished
    }
    records = [record for record, _ in finished]
    return {
        metric: evolution.lines_over_seeds(records, scored, metric) for metric in evolution.METRICS
    }


def _csro_rows(
    game: Game, finished: Sequence[tuple[RunRecord, Measured]], model: str | None
) -> list[Row]:
    asked = full_model_name(model or "gemini")
    found = network_rows(game, finished)
    for published in rows_to_run(game):
        price = _price(game, published.method, asked)
        found += variant_rows(game, published, finished, asked, price)
    return found + own_rows(game, [one for one in finished if not one[0].config.oracle.trains])


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


def _write(
    folder: Path, game: Game, rows: list[Row], curves: drawn.Curves, pages: dict[str, str]
) -> list[Path]:
    population = default_population(game.name)
    texts = {
        "tables.md": drawn.markdown(rows),
        "tables.csv": drawn.table(rows),
        "returns.csv": drawn.returns_table(rows, population),
        "evolution.csv": drawn.evolution_table(curves),
        **pages,
        "index.html": drawn.page(game, population, rows, curves, list(pages)),
    }
    with writing(folder):
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
    table = Table("method", "AggScore, paper", "AggScore, here [95 %]", "seeds", box=None)
    for row in rows:
        theirs = row.published.agg_score if row.published else None
        table.add_row(
            plain(row.method),
            "" if theirs is None else str(theirs),
            marked(estimated(row.ours.agg_score)) if row.ours else "not run",
            str(row.ours.seeds) if row.ours else "",
        )
    out.print(table)
    for path in written:
        out.print(f"wrote {path}")
    if any(row.ours is None for row in rows):
        notice("what the rows that were not run would take stands in tables.md")
