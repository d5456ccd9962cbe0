"""Commands about matches: play, matches, replay, export."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.amounts import MATCHES, MOST_MATCHES
from arena.cli.budgets import focus_options, precision_option
from arena.cli.references import REF
from arena.cli.session import Session, game_option, plain, progress_bar, session_options
from arena.cli.walls import sandbox_options, sharing_option
from arena.cli.workers import workers_options

if TYPE_CHECKING:
    from rich.console import Console

    from arena.executors import Workers
    from arena.games.parts import Account
    from arena.games.protocol import Game
    from arena.printed import Sheet
    from arena.replay import Comparison, Stored
    from arena.store import MatchRow
    from arena.tally import PlayReport
    from sandbox.choose import WallChoice


@click.command()
@game_option
@click.option(
    "--matches",
    "count",
    type=click.IntRange(1),
    help=f"Per pair [default: {MATCHES}; {MOST_MATCHES:,} with --precision, all of --budget with "
    "--focus].",
)
@click.option(
    "--only",
    multiple=True,
    metavar="REF",
    type=REF,
    help="Given once: this policy against everybody. Given more often: the round robin among them.",
)
@precision_option
@focus_options
@workers_options
@sharing_option
@sandbox_options
@session_options
def play(
    session: Session,
    game: Game,
    count: int | None,
    only: tuple[str, ...],
    precision: float | None,
    focus: str | None,
    budget: int | None,
    workers: Workers,
    shared: bool,
    wall: WallChoice,
) -> None:
    """Plays the round robin of all qualified policies.

    Only what is missing is played: interrupt it, or kill it, and the same command goes on.
    """
    from arena.focusing import check_focus

    check_focus(focus, budget, only=only, precision=precision)  # before a home is made
    with (
        session.arena(wall, workers, new=True) as arena,
        progress_bar(f"{game.name}: matches") as progress,
    ):
        report = arena.play(
            game,
            count,
            only=only,
            precision=precision,
            focus=focus,
            budget=budget,
            shared=shared,
            progress=progress,
        )
    session.answer(report_document(report), lambda out: report.sheet(out.width).print_on(out))


def report_document(report: PlayReport) -> dict[str, Any]:
    """What was played, for JSON."""
    imprecise = {} if report.imprecise is None else {"imprecise": report.imprecise}
    left_out = {"left_out": list(report.left_out)} if report.left_out else {}
    return {
        "played": report.played,
        "skipped": report.skipped,
        "meanwhile": report.meanwhile,
        "forfeits": report.forfeits,
        "played_twice": report.twice,
        "audited": report.audited,
        "inconclusive": report.inconclusive,
        "quarantined": list(report.quarantined),
        "evidence": [one.evidence for one in report.suspicions],
        "seconds": report.seconds,
        "processor_seconds": report.processor_seconds,
        "walls": dict(report.walls),
        **imprecise,
        **left_out,
    }


def say_remarks(out: Console, report: PlayReport) -> None:
    """What is worth a remark about what was played, for people."""
    for remark in report.remarks():
        out.print(plain(remark))


@click.command()
@game_option
@click.argument("ref", required=False, type=REF)
@click.option("--against", metavar="REF", type=REF, help="Only against this policy.")
@click.option("--faults", is_flag=True, help="Only forfeits.")
@click.option(
    "--selecting",
    is_flag=True,
    help="Also those that chose among candidates; no score counts them.",
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@session_options
def matches(
    session: Session,
    game: Game,
    ref: str | None,
    against: str | None,
    faults: bool,
    selecting: bool,
    limit: int,
) -> None:
    """Lists stored matches, newest first; REF narrows them to one policy's."""
    arena = session.arena()
    rows = arena.matches(
        game, ref, against=against, faults_only=faults, selecting=selecting, limit=limit
    )
    documents = [_match_document(row, rows.refs) for row in rows]
    session.answer({"matches": documents}, lambda out: rows.sheet(out.width).print_on(out))


def _match_document(row: MatchRow, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": row.id,
        "repetition": row.match.repetition,
        "seats": [names[digest] for digest in row.seats],
        "returns": list(row.returns),
        "termination": row.termination.value,
        "fault_seat": row.fault_seat,
        "fault_message": row.fault_message,
        "wall": row.wall,
        "season": row.season,
        "played_at": row.played_at.isoformat(),
    }


@click.command()
@click.argument("match_id")
@click.option("--verify", is_flag=True, help="Play it again and compare move by move.")
@click.option("--all", "everything", is_flag=True, help="Every throw or hand, not only some.")
@sandbox_options
@session_options
def replay(
    session: Session, match_id: str, verify: bool, everything: bool, wall: WallChoice
) -> None:
    """Retells a stored match, and with --verify checks that it can be reproduced."""
    with session.arena(wall) as arena:
        stored = arena.match(match_id)
        compared = arena.replay(match_id) if verify else None
    document = _retold(stored, compared)
    session.answer(document, lambda out: _retell(out, stored, compared, everything))
    if compared is not None and not compared.same:
        sys.exit(1)


def _retold(stored: Stored, compared: Comparison | None) -> dict[str, Any]:
    result = stored.result
    document: dict[str, Any] = {
        "id": result.match.id,
        "game": stored.game.name,
        "repetition": result.match.repetition,
        "seats": [version.ref for version in stored.versions],
        "returns": list(result.returns),
        "termination": result.termination.value,
        "fault_seat": result.fault_seat,
        "fault_message": result.fault_message,
        "wall": result.wall,
        "season": result.season,
        "events": [dict(event) for event in stored.account.events],
    }
    if compared is not None:
        document["verified"] = compared.same
        document["first_difference"] = compared.first_difference
        document["replay_wall"] = compared.again.wall
    return document


def _retell(out: Console, stored: Stored, compared: Comparison | None, everything: bool) -> None:
    say_match(out, stored.sheet(out.width, everything=everything), stored.account)
    if compared is not None:
        out.print(f"[bold {'green' if compared.same else 'red'}]{compared}[/]")


def say_match(out: Console, sheet: Sheet, account: Account) -> None:
    """A match for people, and how to see what its sheet leaves out."""
    sheet.print_on(out)
    if len(sheet.rows) < len(account.events):
        out.print("--all shows every one")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--moves", is_flag=True, help="Every match's moves, too.")
@session_options
def export(session: Session, folder: Path, moves: bool) -> None:
    """Writes matches, pair statistics and policies as Parquet files for other tools."""
    session.require_folder()
    files = session.arena().export(folder, moves=moves)
    session.answer(
        {"files": [str(file) for file in files]},
        lambda out: out.print(plain("\n".join(str(file) for file in files))),
    )


COMMANDS: tuple[click.Command, ...] = (play, matches, replay, export)
