"""Commands that tell what runs came to: report, table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.session import (
    GameType,
    Session,
    notice,
    plain,
    progress_bar,
    session_options,
)
from arena.cli.walls import sandbox_options
from arena.cli.workers import workers_options
from arena.games import GAMES
from arena.games import game as game_named
from arena.house.population import default_population
from population import paper
from population.cli.advice import advise, starting
from population.cli.keeping import folders_for, runs_of, writing

if TYPE_CHECKING:
    from rich.console import Console

    from arena.analysis.estimates import Estimate
    from arena.executors import Workers
    from arena.games.protocol import Game
    from arena.local import Arena
    from arena.printed import Sheet
    from population.comparison import OurRow
    from population.newcomers import Newcomers
    from population.records import RunRecord
    from population.report.facts import RunFacts
    from population.runs import Runs
    from population.scores import Measured
    from sandbox.choose import WallChoice

# What the commands do is imported where they do it: their help would take five times as long.

evaluate_option = click.option(
    "--evaluate",
    "count",
    type=click.IntRange(2),
    metavar="N",
    help="First play the meta-strategy against the evaluation population, N matches a bot.",
)
steps_option = click.option(
    "--steps",
    default=4,
    show_default=True,
    type=click.IntRange(0),
    metavar="M",
    help="With --evaluate: matches a bot for the meta-strategies on the way.",
)


def evaluate_runs(
    arena: Arena, runs: Runs, records: Sequence[RunRecord], *, count: int, steps: int
) -> None:
    """Plays runs against the evaluation population: meta-strategies, first and best policies.

    Args:
      arena: of the tournament.
      runs: in it.
      records: which of them.
      count: matches a bot of the last meta-strategy, of the first newcomer and of the best policy.
      steps: matches a bot of the meta-strategies before it; 0 for none.
    """
    from population.comparison import best_single
    from population.matches import Matches
    from population.newcomers import first_newcomer
    from population.report.facts import members_of, sigmas_of
    from population.scores import measure, measured, to_measure

    notice(f"sandbox: {arena.wall}")
    for record in records:
        iterations = runs.iterations(record.name)
        sigmas = sigmas_of(record, iterations)
        game, population = game_named(record.config.game), default_population(record.config.game)
        with progress_bar(f"{record.name} against {population.name}") as progress:
            matches = Matches(arena, game, record.config.vouched, progress)
            measure(matches, to_measure(sigmas[-1:], count), population)
            if steps:
                measure(matches, to_measure(sigmas[:-1], steps), population)
            members = members_of(record, iterations)
            first = first_newcomer(members, record)
            if first:
                measure(matches, {first: count}, population)
            told: set[str] = set()  # more matches may make another one the best
            while (best := best_single(measured(arena, game, list(members), population))) and (
                best[0] not in told
            ):
                told.add(best[0])
                measure(matches, {best[0]: count}, population)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page.")
@click.option("--csv", type=click.Path(path_type=Path, file_okay=False), help="Write CSV files.")
@evaluate_option
@steps_option
@workers_options
@sandbox_options
@session_options
def report(
    session: Session,
    run_name: str,
    html: Path | None,
    csv: Path | None,
    count: int | None,
    steps: int,
    workers: Workers,
    wall: WallChoice,
) -> None:
    """Tells about RUN: a summary here, a page with --html, tables with --csv."""
    from population.cli.asking import refuse_given
    from population.cli.report_document import report_document
    from population.report.facts import gather

    if count is None:
        refuse_given("without --evaluate", "steps")
    with session.arena(wall, workers) as arena:
        runs = runs_of(session)
        record = runs.get(run_name)
        folders_for(csv, html and html.parent)
        if count is not None:
            evaluate_runs(arena, runs, [record], count=count, steps=steps)
        facts = gather(arena, runs, run_name)
    written: list[Path] = []
    if csv is not None:
        from population.report.tables import write_tables

        with writing(csv):
            written += write_tables(facts, csv)
    if html is not None:
        from population.report.page import page  # a third of a second that other commands save

        text = page(facts)
        with writing(html):
            html.write_text(text, encoding="utf-8")
        written.append(html)
    document = {**report_document(facts), "files": [str(path) for path in written]}
    session.answer(document, lambda out: _say(out, session, facts, written))


def _say(out: Console, session: Session, facts: RunFacts, written: Sequence[Path]) -> None:
    record = facts.record
    out.print(f"[bold]{record.name}[/]  {plain(record.config.variant)}, seed {record.config.seed}")
    out.print(f"{record.state.value} {plain(record.note)}".strip())
    told = record.config.described()
    for title in ("Grammar", "Prompts", "Opponents shown"):
        if title in told:
            out.print(f"{title.lower()}: {plain(told[title])}", highlight=False)
    _iterations(facts).print_on(out)
    if facts.scores is None:
        command = session.typed(f"csro report {record.name} --evaluate 100")
        advise(out, "not measured yet", command)
    else:
        _say_scores(out, facts)
    for path in written:
        out.print(f"wrote {path}")


def _iterations(facts: RunFacts) -> Sheet:
    """Row k: iteration k, and the score of the meta-strategy after it; columns that tell something.

    The initial meta-strategy is row 0, where it was measured.
    """
    from arena.printed import Cell, Sheet, estimated
    from population import u_intervals

    score = "AggScore after k [95 %]"
    told: list[dict[str, Cell]] = []
    if facts.begun is not None:
        told.append({"k": "0", score: estimated(facts.begun.agg_score)})
    remarks = u_intervals.remarks([step.iteration for step in facts.steps])
    for step, remark in zip(facts.steps, remarks, strict=True):
        one = step.iteration
        row: dict[str, Cell] = {
            "k": str(one.k),
            "u [95 %]": estimated(u_intervals.of_iteration(one, facts.record.config, facts.game)),
            "of which": remark,
            "tried": str(len(one.attempts)),
            "rejected": ", ".join(f"{n} {kind}" for kind, n in step.rejected.items()),
            "tokens": f"{step.spent.tokens:,}" if step.spent.calls else "",
            score: estimated(step.scores.agg_score) if step.scores else "",
            "the search ended": str(one.end or ""),
        }
        told.append(row)
    names = list(dict.fromkeys(name for row in reversed(told) for name in row))
    shown = [name for name in names if any(row.get(name) for row in told)]
    rows = tuple(tuple(row.get(name, "") for name in shown) for row in told)
    return Sheet("", dict.fromkeys(shown, "left"), rows)


def _say_scores(out: Console, facts: RunFacts) -> None:
    from arena.printed import estimated, marked

    out.print(f"against {facts.measured.population}, with 95 % intervals:")
    for name, scores in facts.results:
        called = f"{name} {facts.mixture}" if name == "meta-strategy" else name
        out.print(f"{called}, {scores.matches:,} matches a bot or more")
        out.print(f"  PopReturn  {marked(estimated(scores.pop_return))}")
        out.print(f"  PopExpl    {marked(estimated(scores.pop_expl))}")
        out.print(f"  AggScore   {marked(estimated(scores.agg_score))}")


@click.command()
@click.argument("game", type=GameType(), metavar="|".join(GAMES))
@evaluate_option
@steps_option
@workers_options
@sandbox_options
@session_options
def table(
    session: Session, game: Game, count: int | None, steps: int, workers: Workers, wall: WallChoice
) -> None:
    """Prints the paper's table of a game with our finished runs beside it."""
    from population.cli.asking import refuse_given
    from population.comparison import our_rows
    from population.records import RunState

    if count is None:
        refuse_given("without --evaluate", "steps")
    published = paper.published_rows(game.name)
    with session.arena(wall, workers) as arena:
        runs = runs_of(session)
        finished = [one for one in runs.all(game.name) if one.state is RunState.FINISHED]
        if count is not None:
            evaluate_runs(arena, runs, finished, count=count, steps=steps)
        ours = our_rows((record, _known(arena, game, record)) for record in finished)
    document = {
        "game": game.name,
        "unit": f"{game.unit} per match",
        "paper": [_published(row) for row in published],
        "ours": [_own(row) for row in ours],
    }
    session.answer(document, lambda out: _print_table(out, session, game, published, ours))
    for name in [name for row in ours for name in row.waiting]:
        command = session.typed(f"csro report {name} --evaluate 100")
        notice(f"{name} was not measured yet: {command}")


def _known(arena: Arena, game: Game, record: RunRecord) -> Measured:
    from population.scores import measured

    assert record.final is not None  # it is finished
    return measured(arena, game, list(record.final.weights), default_population(game.name))


def _published(row: paper.PaperRow) -> dict[str, Any]:
    return {
        "method": row.method,
        "pop_return": _figure(row.pop_return),
        "pop_expl": _figure(row.pop_expl),
        "agg_score": _figure(row.agg_score),
        "best": row.best,
        "source": row.source,
    }


def _own(row: OurRow) -> dict[str, Any]:
    return {
        "variant": row.variant,
        "edition": row.edition or None,
        "iterations": row.iterations,
        "seeds": list(row.seeds),
        "pop_return": _estimate(row.pop_return),
        "pop_expl": _estimate(row.pop_expl),
        "agg_score": _estimate(row.agg_score),
        "best": row.best,
        "best_single": row.best_single,
        "matches_per_cell": row.matches,
        "not_measured": list(row.waiting),
        "first_newcomer": _first(row.first),
    }


def _first(first: Newcomers | None) -> dict[str, Any] | None:
    """What the first newcomers of a row's runs reach alone."""
    if first is None:
        return None
    return {
        "programs": first.programs,
        "runs": first.runs,
        "pop_return": _estimate(first.ours.pop_return),
        "pop_expl": _estimate(first.ours.pop_expl),
        "agg_score": _estimate(first.ours.agg_score),
        "matches_per_cell": first.ours.matches,
    }


def _figure(figure: paper.Figure) -> dict[str, float | None]:
    return {"mean": figure.mean, "error": figure.error}


def _estimate(one: Estimate | None) -> dict[str, float] | None:
    return None if one is None else {"mean": one.value, "low": one.low, "high": one.high}


def _print_table(
    out: Console,
    session: Session,
    game: Game,
    published: Sequence[paper.PaperRow],
    ours: Sequence[OurRow],
) -> None:
    if not published and not ours:
        advise(out, f"no finished run of {game.name} here yet; start one", starting(session, game))
        return
    from rich.table import Table

    from arena.printed import estimated, marked
    from population.newcomers import TITLE

    table = Table("method", "PopReturn", "PopExpl", "AggScore", "best", "from", box=None)
    for row in published:
        source = "paper" if row.source == "measured" else f"paper, quoting {row.source}"
        table.add_row(
            plain(row.method),
            *map(str, (row.pop_return, row.pop_expl, row.agg_score)),
            "" if row.best is None else f"{row.best:.1f}",
            source,
        )
    table.add_section()
    for own in ours:
        seeds = ", ".join(map(str, own.seeds))
        table.add_row(
            f"[bold]{plain(own.variant)}[/]",
            *(marked(estimated(one)) for one in (own.pop_return, own.pop_expl, own.agg_score)),
            "" if own.best is None else f"{own.best:.1f}",
            f"here: K {own.iterations}, seeds {seeds or 'none measured'}",
        )
        if own.first is not None:
            alone = own.first.ours
            figures = (alone.pop_return, alone.pop_expl, alone.agg_score)
            table.add_row(
                f"  {TITLE}", *(marked(estimated(one)) for one in figures), "", f"here: {own.first}"
            )
    out.print(table)
    out.print(
        "here: 95 % intervals, over seeds (of newcomers: distinct programs) where there are "
        "several; the paper's own ±; best: the largest AggScore of a run"
    )
    if not ours:
        advise(out, "no finished run here yet; start one", starting(session, game))


COMMANDS: tuple[click.Command, ...] = (report, table)
