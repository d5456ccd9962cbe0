"""Commands about matches: play, matches, replay, export."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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
    from rich.table import Table

    from arena.executors import Workers
    from arena.games.parts import Account
    from arena.games.protocol import Game
    from arena.replay import Comparison, Stored
    from arena.store import MatchRow
    from arena.tally import PlayReport
    from arena.values import Result
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
    session.answer(report_document(report), lambda out: _say(out, report))


def report_document(report: PlayReport) -> dict[str, Any]:
    """What was played, for JSON."""
    imprecise = {} if report.imprecise is None else {"imprecise": report.imprecise}
    left_out = {"left_out": list(report.left_out)} if report.left_out else {}
    return {
        "played": report.played,
        "skipped": report.skipped,
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


def say_precision(out: Console, report: PlayReport) -> None:
    """How many pairs are not as precise as was asked for, for people."""
    if report.imprecise == 0:
        out.print("every pair is as precise as asked for")
    elif report.imprecise is not None:
        out.print(
            f"pairs that are not as precise as asked for: {report.imprecise:,}; they had all the "
            "matches that they may get, or went no further because one of the two was quarantined"
        )


def say_audit(out: Console, report: PlayReport) -> None:
    """What the audits found, for people."""
    if report.twice:
        out.print(f"{report.twice} matches were played once more: a shared process had failed")
    if report.audited:
        out.print(f"audit: {report.audited} matches were played a second time")
    if report.inconclusive:
        out.print(
            f"  {report.inconclusive} say nothing: cut short by a limit, or behind another wall"
        )
    for one in report.suspicions:
        out.print(f"[bold red]quarantined[/] {one.digest[:12]}: {plain(one.evidence)}")


def _say(out: Console, report: PlayReport) -> None:
    rate = report.played / report.seconds if report.seconds else 0.0
    out.print(
        f"played {report.played:,} matches in {report.seconds:,.1f} s ({rate:,.1f} a second); "
        f"{report.skipped:,} were stored already; {report.forfeits:,} forfeits"
    )
    for wall, number in sorted(report.walls.items()):
        out.print(f"  {number:>9,}  {wall}")
    if report.left_out:
        names = plain(", ".join(report.left_out))
        out.print(f"left out, as a language model plays (see `csro agent play`): {names}")
    say_precision(out, report)
    say_audit(out, report)


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
    result, game = stored.result, stored.game
    out.print(f"[bold]{game.title}[/]  match {result.match.id}")
    seats = (stored.versions[0].ref, stored.versions[1].ref)
    retell(out, game, seats, result, stored.account, everything=everything)
    if compared is None:
        return
    if compared.same:
        out.print(f"[bold green]reproduced[/]: {len(result.moves):,} moves are the same")
    elif compared.first_difference is not None:
        out.print(f"[bold red]differs[/] from move {compared.first_difference:,} on")
    else:
        out.print(f"[bold red]differs[/]: it now ends with {compared.again.termination.value}")


def retell(
    out: Console,
    game: Game,
    seats: tuple[str, str],
    result: Result,
    account: Account,
    *,
    everything: bool,
) -> None:
    """A match for people: who sat where, how it ended, and its throws or hands."""
    for seat, who in enumerate(seats):
        out.print(f"seat {seat} {plain(who)}  {result.returns[seat]:+.0f} {game.unit}")
    out.print(f"ended: {result.termination.value}, behind: {result.wall}")
    if result.fault_seat is not None:
        out.print(f"seat {result.fault_seat} forfeited: {plain(result.fault_message)}")
    events = account.events
    shown = events if everything or len(events) <= 30 else (*events[:20], *events[-5:])
    rows = [game.telling.row(event) for event in shown]
    out.print(_events_table(rows, cut=len(events) - len(shown)))
    if rows and game.telling.legend:
        out.print(game.telling.legend)


def _events_table(rows: Sequence[Mapping[str, object]], cut: int) -> Table:
    from rich.table import Table

    keys = list(rows[0]) if rows else []
    table = Table(*keys, box=None, caption=f"{cut:,} more: --all shows them" if cut else None)
    for row in rows:
        table.add_row(*(str(row[key]) for key in keys))
    return table


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
