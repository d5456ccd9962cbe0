"""Commands about results: leaderboard, payoffs, evaluate."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.amounts import MATCHES, MOST_MATCHES
from arena.analysis.rankings import NASH_RULE, RANKINGS
from arena.cli.budgets import precision_option
from arena.cli.matches import report_document, say_remarks
from arena.cli.references import REF
from arena.cli.session import Session, game_option, notice, plain, progress_bar, session_options
from arena.cli.walls import sandbox_options, sharing_option
from arena.cli.workers import workers_options
from arena.errors import UsageFault

if TYPE_CHECKING:
    from rich.console import Console

    from arena.analysis.estimates import Estimate
    from arena.analysis.metrics import AgainstOpponent
    from arena.evaluation import Evaluated
    from arena.executors import Workers
    from arena.games.protocol import Game
    from arena.payoffs import PayoffTable
    from sandbox.choose import WallChoice

_STDOUT = Path("-")


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
    return value if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Rows as JSON: estimates unfolded, NaN as null."""
    from arena.analysis.estimates import Estimate  # much to load for who asks for help
    from arena.analysis.ratings import Rating

    if isinstance(value, Estimate):
        return document_of(value)
    if isinstance(value, Rating):
        return {"mu": value.mu, "sigma": value.sigma, "conservative": value.conservative}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _finite(value)
    return value


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
    document: dict[str, Any] = {
        "game": board.game,
        "population": board.population,
        "by": board.by,
        "unit": board.unit,
        "rows": [_plain(row) for row in shown],
    }
    if more:
        document["nash"] = {"rule": NASH_RULE, "exploitability": board.nash_exploitability}
    left = len(board.rows) - len(shown)

    def human(out: Console) -> None:
        sheet = replace(board, rows=shown).sheet(out.width)
        notes = [f"{left} more rows"] if left else []
        replace(sheet, note="\n".join(filter(None, [*notes, sheet.note]))).print_on(out)

    session.answer(document, human)


@click.command()
@game_option
@click.argument("refs", metavar="[REF]...", nargs=-1, type=REF)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write all of it, one row a pair, with errors and counts; - writes it to stdout.",
)
@session_options
def payoffs(session: Session, game: Game, refs: tuple[str, ...], csv_file: Path | None) -> None:
    """The payoff table: mean return of row against column; of the named policies, or of all."""
    arena = session.arena()
    asked = {version.digest: version.ref for version in (arena.policy(ref, game) for ref in refs)}
    if len(asked) == 1:
        raise UsageFault(
            f"a table takes two policies or more: name others beside {refs[0]}, or none for all; "
            "`arena evaluate` tells how one did against each opponent"
        )
    table = arena.payoffs(game, list(asked) or None)
    table = table.named({**table.names, **asked})  # under the names that were given
    if csv_file == _STDOUT:
        if session.as_json:
            raise UsageFault("--csv - and --json both write to stdout: choose one of them")
        table.to_csv(sys.stdout.buffer)
        return
    if csv_file is not None:
        _write(csv_file, table)
    document = {
        "game": game.name,
        "unit": game.unit,
        "refs": [table.names[digest] for digest in table.digests],
        "mean": _plain(table.mean.tolist()),
        "stderr": _plain(table.stderr.tolist()),
        "count": table.count.tolist(),
    }

    def human(out: Console) -> None:
        size = len(table.digests)
        if csv_file is not None:
            out.print(f"{size} x {size} written to {plain(str(csv_file))}")
            return
        sheet = table.sheet(out.width)
        if sheet.note:
            sheet = replace(sheet, note=f"{sheet.note}: name some policies, or use --csv or --json")
        sheet.print_on(out)

    session.answer(document, human)


def _write(file: Path, table: PayoffTable) -> None:
    try:
        table.to_csv(file)
    except OSError as error:
        raise UsageFault(f"{file} cannot be written: {error.strerror}") from error


@click.command(name="evaluate")
@click.argument("ref", type=REF)
@game_option
@click.option(
    "--matches",
    type=click.IntRange(1),
    help=f"Per opponent [default: {MATCHES}; {MOST_MATCHES:,} with --precision].",
)
@precision_option
@workers_options
@click.option("--against", "population_name", metavar="NAME", help="Evaluation population.")
@click.option(
    "--control-variate",
    is_flag=True,
    help="Take the luck of the cards off the scores (games of hands): they stay unbiased and are "
    "known more precisely; reads every match. With --precision, pairs go as far as their plain "
    "returns need it.",
)
@sharing_option
@sandbox_options
@session_options
def evaluate_(
    session: Session,
    ref: str,
    game: Game,
    matches: int | None,
    precision: float | None,
    workers: Workers,
    population_name: str | None,
    control_variate: bool,
    shared: bool,
    wall: WallChoice,
) -> None:
    """Plays REF against the evaluation population and reports how good it is and why."""
    if control_variate:
        from arena.control_variate import has_luck

        has_luck(game)  # before a home is made
    with (
        session.arena(wall, workers, new=True) as arena,
        progress_bar(f"evaluating {ref}") as progress,
    ):
        found = arena.evaluate(
            ref,
            game,
            matches,
            against=population_name,
            precision=precision,
            control_variate=control_variate,
            shared=shared,
            progress=progress,
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
        "rank": found.rank,
        "rank_low": found.rank_low,
        "rank_high": found.rank_high,
        "ranked": found.ranked,
        "provisional": found.provisional,
        **report_document(found.report),
        "per_opponent": [_opponent(one, found.refs) for one in scores.per_opponent],
    }
    if found.saved is not None:
        document["variance_saved"] = {
            found.refs[digest]: _finite(factor) for digest, factor in found.saved.items()
        }
    for wall_name, number_of in sorted(found.report.walls.items()):
        notice(f"{number_of:,} matches played behind: {wall_name}")
    session.answer(document, lambda out: _say(out, found))


def _opponent(one: AgainstOpponent, refs: Mapping[str, str]) -> dict[str, Any]:
    document = {"ref": refs[one.digest], **_plain(asdict(one))}
    document["payoff"] = document_of(one.payoff)
    return document


def _say(out: Console, found: Evaluated) -> None:
    found.sheet(out.width).print_on(out)
    for digest, factor in (found.saved or {}).items():
        told = f"of {factor:,.1f} times the matches" if math.isfinite(factor) else "of any number"
        out.print(f"  without luck as precise as plain means {told}: {found.refs[digest]}")
    say_remarks(out, found.report)


COMMANDS: tuple[click.Command, ...] = (leaderboard, payoffs, evaluate_)
