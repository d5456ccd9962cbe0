"""Commands about tournaments: from the announcement to a certificate that others can check."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.matches import report_document, say_remarks
from arena.cli.session import Session, game_option, plain, progress_bar, session_options
from arena.cli.walls import sandbox_options
from arena.cli.workers import workers_options
from arena.errors import ArenaError, UsageFault
from arena.games.protocol import Game

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from arena.contest.verification import Finding
    from arena.executors import Workers
    from arena.seam import Operations
    from registry import Entry, Tournament
    from sandbox.choose import WallChoice

MOMENTS = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"])
_WHEN = "in UTC: 2026-12-31 or 2026-12-31T18:00"


@click.group()
def tournament() -> None:
    """Entries until a moment, a final with seeds of its own, and a certificate of it."""


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


@tournament.command("open")
@click.argument("name")
@game_option
@click.option("--opens", type=MOMENTS, metavar="DATE", help=f"From when on, {_WHEN}; now.")
@click.option("--closes", type=MOMENTS, required=True, metavar="DATE", help=f"Until, {_WHEN}.")
@click.option(
    "--entries",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="The last N policies of each author take part; the best of them stands for the author.",
)
@click.option(
    "--matches",
    type=click.IntRange(2),
    default=32,
    show_default=True,
    metavar="N",
    help="Of each pair in the final; even.",
)
@click.option(
    "--hidden",
    multiple=True,
    metavar="FILE|REF",
    help="A policy of the hidden evaluation population; repeat it.  A FILE is checked and kept "
    "where no list shows it.  It meets nobody before the final.",
)
@sandbox_options
@session_options
def open_(
    session: Session,
    name: str,
    game: Game,
    opens: datetime | None,
    closes: datetime,
    entries: int,
    matches: int,
    hidden: tuple[str, ...],
    wall: WallChoice,
) -> None:
    """Announces the tournament NAME."""
    from arena.contest.hidden import read_contents

    begins = None if opens is None else _utc(opens)
    refs, contents = read_contents(hidden)
    with session.arena(wall, new=True) as arena:
        made = arena.office.announce(
            name,
            game,
            begins,
            _utc(closes),
            entries=entries,
            matches=matches,
            hidden=refs,
            secret=contents,
        )
        _tell(session, arena.office, made)


@tournament.command("list")
@session_options
def show_all(session: Session) -> None:
    """Lists the tournaments, in the order in which they close."""
    found, now = session.office().tournaments(), datetime.now(UTC)
    session.answer(
        {"tournaments": [_document(one, now) for one in found]},
        lambda out: out.print(_table(found, now)),
    )


@tournament.command()
@click.argument("name")
@session_options
def show(session: Session, name: str) -> None:
    """Shows the tournament NAME and the entries that count so far."""
    office = session.office()
    _tell(session, office, office.tournament(name))


@tournament.command()
@click.argument("name")
@click.option("--at", type=MOMENTS, metavar="DATE", help=f"When, {_WHEN}; now by default.")
@session_options
def close(session: Session, name: str, at: datetime | None) -> None:
    """Lets the tournament NAME close now, or at another moment than it was to."""
    office = session.office()
    _tell(session, office, office.move_closing(name, None if at is None else _utc(at)))


@tournament.command()
@click.argument("name")
@sandbox_options
@workers_options
@session_options
def final(session: Session, name: str, workers: Workers, wall: WallChoice) -> None:
    """Freezes the tournament NAME once it has closed, reveals the season, and plays the final.

    Its seeds come from a key that is drawn when it is frozen.  Interrupt it, or kill it, and the
    same command goes on.
    """
    with session.arena(wall, workers) as arena:
        with progress_bar(f"{name}: matches") as progress:
            report = arena.office.final(name, progress=progress)
        found = arena.office.tournament(name)

    def human(out: Console) -> None:
        out.print(f"played {report.played:,} matches; {report.skipped:,} were stored already")
        say_remarks(out, report)
        again = session.typed(f"arena tournament certificate {name}")
        out.print(f"certify it:  {plain(again)}", soft_wrap=True)

    session.answer({**_document(found, datetime.now(UTC)), **report_document(report)}, human)


@tournament.command()
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--sources", is_flag=True, help="With the sources of all policies that you may see.")
@session_options
def certificate(session: Session, name: str, out: Path | None, sources: bool) -> None:
    """Writes the certificate of the final of NAME (to NAME.json).

    The first time this issues it, which publishes the key of the final: at a server that is for
    operators.  From then on every account gets it.
    """
    file = out or Path(f"{name}.json")
    document = _issued(session, name, sources)
    text = json.dumps(document, ensure_ascii=False)
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise ArenaError(f"{file} cannot be written: {error.strerror}") from error
    told = {"file": str(file), **{key: document[key] for key in ("digest", "table", "authors")}}
    told["alike"] = document["alike"]
    held = [("source" in one) for part in ("entrants", "hidden") for one in document[part]]
    told["sources"] = {"held": sum(held), "of": len(held)}

    def human(screen: Console) -> None:
        _say_result(screen, file, document)
        if sources and not all(held):
            screen.print(
                f"with {sum(held)} of {len(held)} sources: the others are not open, and their "
                "authors and the operators have them",
                soft_wrap=True,
            )

    session.answer(told, human)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--play", type=click.IntRange(0), default=0, metavar="N", help="Matches, again.")
@click.option("--seed", type=int, metavar="S", help="Draws which matches; by chance otherwise.")
@sandbox_options
@workers_options
@session_options
def verify(
    session: Session, file: Path, play: int, seed: int | None, workers: Workers, wall: WallChoice
) -> None:
    """Checks the certificate of a final, FILE, against itself; needs no home.

    With --play, N of its matches are played again from the key and the sources in it, or in the
    home where there is one.
    """
    from arena.contest.playing import play_again
    from arena.contest.reading import MOST_BYTES, facts_in, read_certificate
    from arena.contest.verification import verify as check

    try:
        with file.open("rb") as opened:
            document = read_certificate(opened.read(MOST_BYTES + 1))
    except OSError as error:
        raise UsageFault(f"{file} cannot be read: {error.strerror}") from error
    findings = [*check(document), *_at_home(session, document)]
    if play and not any(one.problem for one in findings):
        facts = facts_in(document)
        chance = random.SystemRandom() if seed is None else random.Random(seed)
        digests = [one.digest for one in (*facts.entrants, *facts.hidden)]
        sources = _sources_at_home(session, facts.game, digests)
        findings += play_again(
            facts, play, chance=chance, sources=sources, workers=workers, wall=wall
        )
    good = not any(one.problem for one in findings)
    checks = [{"check": f.check, "problem": f.problem, "detail": f.detail} for f in findings]
    session.answer(
        {"verified": good, "digest": document.get("digest"), "checks": checks},
        lambda out: _say_findings(out, findings, document if good else None),
    )
    if not good:
        sys.exit(1)


def _issued(session: Session, name: str, sources: bool) -> dict[str, Any]:
    """The certificate; issued now where it was not yet."""
    from arena.contest.certificate import without_sources
    from arena.contest.issuing import issue

    if session.server is None:
        document = issue(session.roster().home, name)  # for which nothing is loaded that plays
    elif (office := session.office()).tournament(name).certificate:
        return office.certificate(name, sources=sources)
    else:
        document = office.certify(name)
    return document if sources else without_sources(document)


def _at_home(session: Session, document: dict[str, Any]) -> list[Finding]:
    """Whether the home knows the certificate, where there is one with that tournament."""
    from arena.contest.verification import Finding
    from arena.home_marker import has_home
    from registry import UnknownTournament

    if session.server is None and not has_home(session.home_path):
        return []
    try:
        own = session.office().tournament(document["tournament"]["name"])
    except UnknownTournament:
        return []
    if own.certificate == document.get("digest"):
        return [Finding("the home's own record", "", "the same digest")]
    if not own.certificate:
        return []
    return [Finding("the home's own record", f"the home has {own.certificate[:16]}...")]


def _sources_at_home(session: Session, game: str, digests: Sequence[str]) -> dict[str, str]:
    from arena.home_marker import has_home

    if session.server is None and not has_home(session.home_path):
        return {}
    found = session.roster().policies(game)
    # A source that is not ours to read comes as nothing.
    return {one.digest: one.payload for one in found if one.digest in digests and one.payload}


def _tell(session: Session, office: Operations, one: Tournament) -> None:
    now, entries = datetime.now(UTC), office.counting(one.name)
    document = {**_document(one, now), "counting": [_entry(entry) for entry in entries]}

    def human(out: Console) -> None:
        from rich.table import Table

        out.print(_table((one,), now))
        table = Table("entry", "handed in (UTC)", "digest", box=None)
        for entry in entries:
            created = f"{entry.created:%Y-%m-%d %H:%M:%S}"
            table.add_row(plain(entry.ref), created, entry.digest[:12])
        out.print(table if entries else "no entry counts so far")

    session.answer(document, human)


def _document(one: Tournament, now: datetime) -> dict[str, Any]:
    from arena.contest.entries import phase_of

    return {
        "name": one.name,
        "game": one.game,
        "phase": phase_of(one, now).value,
        "opens": one.opens.isoformat(),
        "closes": one.closes.isoformat(),
        "entries": one.entries,
        "matches": one.matches,
        "hidden": len(one.hidden),
        "frozen": one.frozen.isoformat() if one.frozen else None,
        "season": one.season,
        "certificate": one.certificate or None,
    }


def _entry(one: Entry) -> dict[str, str]:
    return {"ref": one.ref, "digest": one.digest, "created": one.created.isoformat()}


def _table(found: Sequence[Tournament], now: datetime) -> Table:
    from rich.table import Table

    from arena.contest.entries import phase_of

    table = Table("tournament", "game", "phase", "opens (UTC)", "closes (UTC)", "hidden", box=None)
    for one in found:
        moments = (f"{moment:%Y-%m-%d %H:%M}" for moment in (one.opens, one.closes))
        hidden = str(len(one.hidden) or "")
        table.add_row(plain(one.name), one.game, phase_of(one, now).value, *moments, hidden)
    return table


def _say_result(out: Console, file: Path, document: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table("", "author", "best entry", "AggScore [95 %]", "of all entries", box=None)
    ranks = [row["rank"] for row in document["authors"]]
    for row in document["authors"]:
        score = row["agg_score"] or {"value": None}
        known = score["value"] is not None and score.get("low") is not None
        told = f"{score['value']:.1f} [{score['low']:.1f}, {score['high']:.1f}]" if known else "-"
        rank, low, high = (row[name] for name in ("rank", "rank_low", "rank_high"))
        # An author's place is among authors, whose others may have handed in several.
        place = str(1 + sum(one is not None and one < rank for one in ranks)) if rank else "-"
        entry = f"rank {rank} (could be {low} to {high})" if rank else ""
        table.add_row(place, plain(row["author"]), plain(row["best"]), told, entry)
    out.print(table)
    for pair in document["alike"]:
        refs = plain(f"{pair['one']} and {pair['other']}")
        how = "the same program" if pair["same"] else f"{pair['likeness']:.0%} alike"
        out.print(f"{how}: {refs}")
    for one in document["disqualified"]:
        out.print(f"disqualified: {plain(one['ref'])}: {plain(one['reason'])}")
    out.print(f"certificate {document['digest']} in {plain(str(file))}", soft_wrap=True)


def _say_findings(out: Console, findings: Sequence[Finding], good: dict[str, Any] | None) -> None:
    """What was found; of a good certificate also what it has to be compared with."""
    for one in findings:
        mark = "[green]ok[/]   " if one.checked else "[yellow]open[/] "
        mark = "[bold red]wrong[/]" if one.problem else mark
        out.print(f"{mark}  {one.check}  {plain(one.problem or one.detail)}", soft_wrap=True)
    if good is None:
        out.print("the certificate is NOT good")
        return
    out.print(f"digest      {plain(good['digest'])}")
    out.print(f"commitment  {plain(good['season']['commitment'])}")
    out.print(
        "the certificate is good in itself.  So is one that its issuer has composed anew: compare "
        "its digest, and its commitment, with what was published",
        soft_wrap=True,
    )


COMMANDS: tuple[click.Command, ...] = (tournament, verify)
