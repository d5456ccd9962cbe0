"""Commands about results: leaderboard, payoffs, evaluate."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from arena.analysis.estimates import Estimate
from arena.analysis.leaderboard import RANKINGS, Row
from arena.analysis.metrics import AgainstOpponent
from arena.analysis.ratings import Rating
from arena.cli.matches import report_document, say_audit
from arena.cli.session import Session, game_option, notice, plain, progress_bar, session_options
from arena.cli.walls import sandbox_options, sharing_option
from arena.errors import UsageFault
from arena.evaluation import Evaluated
from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from registry.values import Status
from sandbox.choose import WallChoice


def number(value: float | None, digits: int = 1) -> str:
    """A number for a table; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "-"
    return f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0 turns -0.0 into 0.0


def estimated(estimate: Estimate | None) -> str:
    """An estimate with its 95 % interval."""
    if estimate is None:
        return "-"
    low, high = number(estimate.low, 0), number(estimate.high, 0)
    return f"{number(estimate.value)} [dim]\\[{low}, {high}][/]"


def document_of(estimate: Estimate | None) -> dict[str, Any] | None:
    """An estimate for JSON; NaN becomes null."""
    if estimate is None:
        return None
    return {
        "value": _finite(estimate.value),
        "stderr": _finite(estimate.stderr),
        "ci95": [_finite(estimate.low), _finite(estimate.high)],
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Rows as JSON: estimates unfolded, NaN as null."""
    if isinstance(value, Estimate):
        return document_of(value)
    if isinstance(value, Rating):
        return {"mu": value.mu, "sigma": value.sigma, "conservative": value.conservative}
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(item) for key, item in vars_of(value).items()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _finite(value)
    return value


def vars_of(value: Any) -> dict[str, Any]:
    """Fields of a dataclass, not descended into."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


@click.command()
@game_option
@click.option(
    "--by",
    type=click.Choice(sorted(RANKINGS)),
    default="agg_score",
    show_default=True,
    help="What ranks.",
)
@click.option("--limit", type=click.IntRange(1), help="Show only the first rows.")
@click.option("--more", is_flag=True, help="Bradley-Terry, Nash mass and alpha-rank as well.")
@click.option("--against", "population_name", metavar="NAME", help="Evaluation population.")
@session_options
def leaderboard(
    session: Session,
    game: Game,
    by: str,
    limit: int | None,
    more: bool,
    population_name: str | None,
) -> None:
    """Ranks all qualified policies by their scores against the evaluation population."""
    board = session.arena().leaderboard(game, by=by, against=population_name, more=more)
    shown = board.rows[:limit]
    document = {
        "game": board.game,
        "population": board.population,
        "by": board.by,
        "unit": board.unit,
        "rows": [_plain(row) for row in shown],
    }
    session.answer(
        document, lambda out: _board(out, game, board.population, shown, len(board.rows), more)
    )


def _board(
    out: Console, game: Game, measured_on: str, rows: tuple[Row, ...], total: int, more: bool
) -> None:
    columns = _columns(out.width, more, any(row.forfeits for row in rows))
    table = Table(box=None, header_style="bold")
    for title, (justify, _) in columns.items():
        table.add_column(title, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row) for _, cell in columns.values()))
    out.print(f"[bold]{game.title}[/]: {game.unit} a match, measured on {measured_on}")
    out.print(table)
    if len(rows) < total:
        out.print(f"{total - len(rows)} more rows")


Justify = Literal["left", "right"]
Column = tuple[Justify, Callable[[Row], str]]
WIDE = 120
"""Terminals narrower than this many characters get fewer columns."""


def _columns(width: int, more: bool, forfeits: bool) -> dict[str, Column]:
    """The columns of a leaderboard, with what fills them."""
    columns: dict[str, Column] = {
        "rank": ("right", _rank),
        "policy": ("left", lambda row: row.ref),
        "AggScore [95 %]": ("right", lambda row: _score(row)),
        "PopReturn": ("right", lambda row: _value(row.pop_return)),
        "PopExpl": ("right", lambda row: _value(row.pop_expl)),
    }
    if width >= WIDE:
        columns["cross-fitted"] = (
            "right",
            lambda row: _value(row.pop_expl_cross_fitted),
        )
        columns["rating"] = (
            "right",
            lambda row: number(row.trueskill.conservative if row.trueskill else None),
        )
    columns["worst opponent"] = ("left", _worst)
    if width >= WIDE:
        columns["matches"] = ("right", lambda row: f"{row.matches:,}")
    if forfeits:
        columns["forfeits"] = ("right", lambda row: f"{row.forfeits:,}" if row.forfeits else "")
    if more:
        columns["Bradley-Terry"] = ("right", lambda row: number(row.bradley_terry, 0))
        columns["Nash mass"] = ("right", lambda row: number(row.nash_mass, 3))
        columns["alpha-rank"] = ("right", lambda row: number(row.alpha_rank, 3))
    return columns


def _value(estimate: Estimate | None) -> str:
    return number(estimate.value if estimate else None)


def _score(row: Row) -> str:
    if row.agg_score is None:
        return f"[dim]{len(row.missing)} opponents not met[/]"
    return estimated(row.agg_score)


def _rank(row: Row) -> str:
    if row.rank is None:
        return "-"
    span = "" if row.rank_low == row.rank_high else f" [dim]{row.rank_low}-{row.rank_high}[/]"
    return f"{row.rank}{span}"


def _worst(row: Row) -> str:
    if row.worst is None:
        return "-"
    mean = round(row.worst.mean, 1)
    return f"{row.worst.ref} {mean:+.1f}" if mean else f"{row.worst.ref} 0.0"


@click.command()
@game_option
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, dir_okay=False), help="Write.")
@session_options
def payoffs(session: Session, game: Game, csv_file: Path | None) -> None:
    """The payoff table: mean return of row against column, with errors and counts."""
    arena = session.arena()
    names = {one.digest: one.ref for one in arena.policies(game, status=Status.QUALIFIED)}
    table = arena.payoffs(game, list(names))
    if csv_file is not None:
        _write_matrix(csv_file, table, names)
    refs = [names[digest] for digest in table.digests]
    document = {
        "game": game.name,
        "unit": game.unit,
        "refs": refs,
        "mean": _plain(table.mean.tolist()),
        "stderr": _plain(table.stderr.tolist()),
        "count": table.count.tolist(),
    }

    def human(out: Console) -> None:
        if csv_file is not None:
            out.print(f"{len(refs)} x {len(refs)} written to {plain(str(csv_file))}")
            return
        out.print(_matrix(table, refs))

    session.answer(document, human)


def _write_matrix(file: Path, table: PayoffTable, names: dict[str, str]) -> None:
    try:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["policy", *(names[digest] for digest in table.digests)])
            for digest, row in zip(table.digests, table.mean.tolist(), strict=True):
                writer.writerow([names[digest], *("" if x != x else f"{x:.6g}" for x in row)])
    except OSError as error:
        raise UsageFault(f"{file} cannot be written: {error.strerror}") from error


def _matrix(table: PayoffTable, refs: list[str]) -> Table:
    view = Table("", *(str(i + 1) for i in range(len(refs))), box=None)
    for i, (ref, row) in enumerate(zip(refs, table.mean.tolist(), strict=True)):
        view.add_row(f"{i + 1:>3} {ref}", *(number(value, 0) for value in row))
    return view


@click.command(name="evaluate")
@click.argument("ref")
@game_option
@click.option(
    "--matches", default=16, show_default=True, type=click.IntRange(1), help="Per opponent."
)
@click.option("--workers", default=0, type=click.IntRange(0), help="Processes; 0: one per core.")
@click.option("--against", "population_name", metavar="NAME", help="Evaluation population.")
@sharing_option
@sandbox_options
@session_options
def evaluate_(
    session: Session,
    ref: str,
    game: Game,
    matches: int,
    workers: int,
    population_name: str | None,
    shared: bool,
    wall: WallChoice,
) -> None:
    """Plays REF against the evaluation population and reports how good it is and why."""
    with session.arena(wall, workers) as arena, progress_bar(f"evaluating {ref}") as progress:
        found = arena.evaluate(
            ref, game, matches, against=population_name, shared=shared, progress=progress
        )
    scores = found.scores
    document = {
        "ref": found.version.ref,
        "digest": found.version.digest,
        "population": found.population,
        "pop_return": document_of(scores.pop_return),
        "pop_expl": document_of(scores.pop_expl),
        "pop_expl_cross_fitted": document_of(scores.pop_expl_cross_fitted),
        "agg_score": document_of(scores.agg_score),
        **report_document(found.report),
        "per_opponent": [_opponent(one, found.refs) for one in scores.per_opponent],
    }
    for wall_name, number_of in sorted(found.report.walls.items()):
        notice(f"{number_of:,} matches played behind: {wall_name}")
    session.answer(document, lambda out: _say(out, found))


def _opponent(one: AgainstOpponent, refs: Mapping[str, str]) -> dict[str, Any]:
    document = {"ref": refs[one.digest], **_plain(asdict(one))}
    document["payoff"] = document_of(one.payoff)
    return document


def _say(out: Console, found: Evaluated) -> None:
    result, refs = found.scores, found.refs
    out.print(
        f"[bold]{found.version.ref}[/] against {found.population}, mean and 95 % interval a match"
    )
    for title, estimate in (
        ("PopReturn", result.pop_return),
        ("PopExpl", result.pop_expl),
        ("  cross-fitted", result.pop_expl_cross_fitted),
        ("AggScore", result.agg_score),
    ):
        out.print(f"  {title:15} {estimated(estimate)}")
    table = Table("opponent", "mean [95 %]", "won", "drawn", "lost", "forfeits", box=None)
    known = [one for one in result.per_opponent if one.payoff is not None]
    for one in sorted(known, key=lambda one: one.payoff.value if one.payoff else 0.0):
        if not one.itself:
            table.add_row(
                refs[one.digest],
                estimated(one.payoff),
                *(str(n) for n in (one.wins, one.draws, one.losses)),
                str(one.forfeits or ""),
            )
    out.print(table)
    say_audit(out, found.report)


COMMANDS: tuple[click.Command, ...] = (leaderboard, payoffs, evaluate_)
