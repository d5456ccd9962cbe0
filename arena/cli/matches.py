"""Commands about matches: play, matches, replay, export."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from arena.audit import LOCKSTEP, AuditReport, audit_newest
from arena.cli.session import Session, game_option, plain, progress_bar, session_options
from arena.cli.walls import sandbox_options
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.home import Home
from arena.play import PlayOptions, PlayReport
from arena.play import play as play_round_robin
from arena.replay import Comparison, Stored, play_again, stored_match
from arena.store import MatchRow
from registry.values import Status
from sandbox.choose import WallChoice
from sandbox.values import Limits


@click.command()
@game_option
@click.option(
    "--matches", "count", default=16, show_default=True, type=click.IntRange(1), help="Per pair."
)
@click.option(
    "--only",
    multiple=True,
    metavar="REF",
    help="Given once: this policy against everybody. Given more often: the round robin among them.",
)
@click.option("--workers", default=0, type=click.IntRange(0), help="Processes; 0: one per core.")
@click.option(
    "--isolate", is_flag=True, help="Fresh sealed workers for every match: slower, for audits."
)
@sandbox_options
@session_options
def play(
    session: Session,
    game: Game,
    count: int,
    only: tuple[str, ...],
    workers: int,
    isolate: bool,
    wall: WallChoice,
) -> None:
    """Plays the round robin of all qualified policies.

    Only what is missing is played: interrupt it, or kill it, and the same command goes on.
    """
    home = session.home()
    chosen = [_entrant(home, game, ref) for ref in only]
    options = PlayOptions(count, workers, wall, isolate)
    with progress_bar(f"{game.name}: matches") as progress:
        report = play_round_robin(home, game, options, only=chosen, progress=progress)
    document = _report(report)
    audited = None
    if any(name.endswith(LOCKSTEP) for name in report.walls):
        audited = audit_newest(home, game, report.played, wall)
        document["audited"] = audited.audited
        document["inconclusive"] = audited.inconclusive
        document["quarantined"] = sorted({one.suspect for one in audited.differences})
    session.answer(document, lambda out: _say(out, report, audited))


def _entrant(home: Home, game: Game, ref: str) -> str:
    """Digest of a policy that may take part.

    Raises:
      UsageFault: it is withdrawn, quarantined or no entrant.
    """
    version = home.registry.get(game.name, ref)
    if version.status is not Status.QUALIFIED:
        why = f" ({version.status_reason})" if version.status_reason else ""
        raise UsageFault(f"{version.ref} is {version.status.value}{why}: it takes part in nothing")
    return version.digest


def _report(report: PlayReport) -> dict[str, Any]:
    return {
        "played": report.played,
        "skipped": report.skipped,
        "forfeits": report.forfeits,
        "seconds": report.seconds,
        "walls": report.walls,
    }


def _say(out: Console, report: PlayReport, audited: AuditReport | None) -> None:
    rate = report.played / report.seconds if report.seconds else 0.0
    out.print(
        f"played {report.played:,} matches in {report.seconds:,.1f} s ({rate:,.1f} a second); "
        f"{report.skipped:,} were stored before; {report.forfeits:,} forfeits"
    )
    for wall, number in sorted(report.walls.items()):
        out.print(f"  {number:>9,}  {wall}")
    if audited is not None:
        out.print(f"audit: {audited.audited} matches played again one by one")
        if audited.inconclusive:
            out.print(f"  {audited.inconclusive} were cut short by a limit: inconclusive")
        for one in audited.differences:
            out.print(
                f"[bold red]quarantined[/] {one.suspect}: match {one.match_id[:12]} came out "
                f"differently from move {one.move} on"
            )


@click.command()
@game_option
@click.argument("ref", required=False)
@click.option("--against", metavar="REF", help="Only against this policy.")
@click.option("--faults", is_flag=True, help="Only forfeits.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@session_options
def matches(
    session: Session, game: Game, ref: str | None, against: str | None, faults: bool, limit: int
) -> None:
    """Lists stored matches, newest first; REF narrows them to one policy's."""
    home = session.home()
    rows = home.store.matches(
        game.name,
        game.version,
        of=home.registry.get(game.name, ref).digest if ref else None,
        against=home.registry.get(game.name, against).digest if against else None,
        faults_only=faults,
        newest_first=True,
        limit=limit,
    )
    found = home.registry.by_digests(sorted({d for row in rows for d in row.seats}))
    names = {digest: version.ref for digest, version in found.items()}
    documents = [_match_document(row, names) for row in rows]

    def human(out: Console) -> None:
        table = Table("match", "seat 0", "seat 1", "returns", "end", "wall", box=None)
        for row in rows:
            end = row.termination.value
            if row.fault_seat is not None:
                end = f"{end} (seat {row.fault_seat})"
            refs = [names[digest] for digest in row.seats]
            first, second = row.returns
            table.add_row(row.id[:12], *refs, f"{first:+.0f} {second:+.0f}", end, row.wall)
        out.print(table)

    session.answer({"matches": documents}, human)


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
    home = session.home()
    stored = stored_match(home, match_id)
    compared = play_again(home, stored, wall, Limits()) if verify else None
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
        "events": [dict(event) for event in stored.account.events],
    }
    if compared is not None:
        document["verified"] = compared.same
        document["first_difference"] = compared.first_difference
        document["replay_wall"] = compared.again.wall
    return document


def _retell(out: Console, stored: Stored, compared: Comparison | None, everything: bool) -> None:
    result, game = stored.result, stored.game
    first, second = (version.ref for version in stored.versions)
    out.print(f"[bold]{game.title}[/]  match {result.match.id}")
    out.print(f"seat 0 {first}  {result.returns[0]:+.0f} {game.unit}")
    out.print(f"seat 1 {second}  {result.returns[1]:+.0f} {game.unit}")
    out.print(f"ended: {result.termination.value}, behind: {result.wall}")
    if result.fault_seat is not None:
        out.print(f"seat {result.fault_seat} forfeited: {plain(result.fault_message)}")
    events = stored.account.events
    shown = events if everything or len(events) <= 30 else (*events[:20], *events[-5:])
    out.print(_events_table(shown, cut=len(events) - len(shown)))
    if compared is None:
        return
    if compared.same:
        out.print(f"[bold green]reproduced[/]: {len(result.moves):,} moves are the same")
    elif compared.first_difference is not None:
        out.print(f"[bold red]differs[/] from move {compared.first_difference:,} on")
    else:
        out.print(f"[bold red]differs[/]: it now ends with {compared.again.termination.value}")


def _events_table(events: tuple[Mapping[str, Any], ...], cut: int) -> Table:
    keys = list(events[0]) if events else []
    table = Table(*keys, box=None, caption=f"{cut:,} more: --all shows them" if cut else None)
    for event in events:
        table.add_row(*(_cell(event[key]) for key in keys))
    return table


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:+g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_cell(item) for item in value)
    return "" if value is None else str(value)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@session_options
def export(session: Session, folder: Path) -> None:
    """Writes matches and pair statistics as Parquet files for other tools."""
    files = session.home().store.export(folder)
    session.answer(
        {"files": [str(file) for file in files]},
        lambda out: out.print(plain("\n".join(str(file) for file in files))),
    )


COMMANDS: tuple[click.Command, ...] = (play, matches, replay, export)
