"""Commands about policies: submit, check, list, show, history, yank."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from arena.cli.references import REF
from arena.cli.session import Session, game_option, notice, optional_game, plain, session_options
from arena.cli.walls import sandbox_options
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.listings import also
from arena.rejection import Rejection
from registry import shown
from registry.values import PolicyVersion, Status

if TYPE_CHECKING:
    from rich.console import Console

    from arena.analysis.leaderboard import Row
    from arena.enrol import Enrolled
    from arena.remote import RemoteArena
    from sandbox.choose import WallChoice


UNRANKED = 3
"""Exit code of `submit --wait` where the policy was taken in and waiting for its rank is no use."""
_NOBODY_PLAYS = "not waited for a rank: this server plays nothing by itself; ask its operator"


def _labels(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    labels = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{value!r} is not of the form KEY=VALUE")
        labels[key] = text
    return labels


def rejected(session: Session, rejection: Rejection) -> NoReturn:
    """Says why a policy is not taken, and ends the command."""
    reason = f"{rejection.kind}: {rejection.message}"
    session.answer(
        {"ref": None, "digest": None, "status": "rejected", "reason": reason},
        lambda out: out.print(f"[bold red]rejected[/]  {plain(reason)}"),
    )
    sys.exit(1)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@game_option
@click.option("--name", required=True, metavar="AUTHOR/NAME", help="What it is called.")
@click.option("--description", default="", metavar="TEXT", help="One line about its idea.")
@click.option("--label", "labels", multiple=True, callback=_labels, metavar="K=V", help="Label.")
@click.option(
    "--wait",
    is_flag=True,
    help="At a server: until it has a rank (exit code 3: the server plays nothing by itself).",
)
@sandbox_options
@session_options
def submit(
    session: Session,
    file: Path,
    game: Game,
    name: str,
    description: str,
    labels: Mapping[str, str],
    wait: bool,
    wall: WallChoice,
) -> None:
    """Checks a policy FILE, tries it in the sandbox, and registers it as a new version.

    A FILE of - is what is piped in; one named .safetensors has the weights of a network.
    """
    if wait and session.server is None:
        raise UsageFault("--wait is for a server, which plays by itself; here `arena play` does")
    source, row = read_policy(session, file), None
    with session.arena(wall, new=True) as arena:
        if isinstance(source, str):  # a network is data
            notice(f"sandbox: {arena.wall}")
        outcome = arena.submit(source, game, name, description=description, labels=labels)
        if wait and not isinstance(outcome, Rejection):
            row = _ranked(cast("RemoteArena", arena), game, outcome.version)
    if isinstance(outcome, Rejection):
        rejected(session, outcome)
    else:
        _taken(session, outcome, game, row)
        if row is not None and row.rank is None:
            sys.exit(UNRANKED)


def _ranked(server: RemoteArena, game: Game, version: PolicyVersion) -> Row | None:
    """Waits until a policy has a rank at a server, and returns its row of the leaderboard.

    None where it takes no part, so that it will have none.  A row without a rank where the server
    plays nothing by itself.
    """
    if version.status is not Status.QUALIFIED:
        return None
    notice("waiting for its rank (Ctrl-C ends the waiting, and nothing else) ...")
    # What was told before is looked through too: it may be ranked before anybody listens.
    told = server.notifications(after=0)
    while True:
        rows = server.leaderboard(game).rows
        row = next((one for one in rows if one.digest == version.digest), None)
        if row is None or row.rank is not None or not server.plays():
            return row
        next(one for one in told if one.about.get("digest") == version.digest)


def read_policy(session: Session, file: Path) -> str | bytes:
    """A policy from a file: its source, or the weights of a network in one named .safetensors.

    Ends the command where there is none to be read.
    """
    if file.suffix != ".safetensors":
        return read(session, file)
    from arena.submission import read_weights

    weights = read_weights(file)
    if isinstance(weights, Rejection):
        rejected(session, weights)
    return weights


def read(session: Session, file: Path) -> str:
    """A policy's source from a file, or from standard input where that is "-".

    Ends the command where there is none to be read.
    """
    from arena.submission import STANDARD_INPUT, read_source, read_stream

    piped = file == STANDARD_INPUT
    source = read_stream(sys.stdin.buffer) if piped else read_source(file)
    if isinstance(source, Rejection):
        rejected(session, source)
    return source.text


def _shared(outcome: Enrolled) -> str:
    """What to say where the content was there before."""
    if outcome.created:
        return ""
    if not outcome.credited:
        return "the same content was registered before"
    others = also(outcome.version.also)
    return f"the same content is {others}: they share its results" if others else ""


def _taken(session: Session, outcome: Enrolled, game: Game, row: Row | None) -> None:
    """Says that a policy was taken in, and where it stands where that was waited for."""
    version = outcome.version
    qualified = version.status is Status.QUALIFIED
    reason = _shared(outcome)
    unranked = row is not None and row.rank is None
    if unranked:
        reason = f"{reason}; {_NOBODY_PLAYS}" if reason else _NOBODY_PLAYS
    if not qualified and version.status_reason:
        reason = f"{reason}: {version.status_reason}"
    document: dict[str, Any] = {
        "ref": version.ref,
        "digest": version.digest,
        "status": version.status.value,
        "reason": reason,
    }
    if row is not None:
        document |= {"rank": row.rank, "rank_low": row.rank_low, "rank_high": row.rank_high}

    def human(out: Console) -> None:
        colour = "green" if qualified else "red"
        out.print(f"[bold {colour}]{version.status.value}[/]  {version.ref}  {version.digest}")
        if reason:
            out.print(plain(reason))
        if row is not None and not unranked:
            sure = "" if row.rank_low == row.rank_high else f" ({row.rank_low}-{row.rank_high})"
            out.print(f"rank {row.rank}{sure}")
        elif qualified and row is None:
            again = session.typed(f"arena play --game {game.name} --only {version.ref}")
            out.print(f"play it:  {plain(again)}", soft_wrap=True)

    session.answer(document, human)
    if not qualified:
        sys.exit(1)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@game_option
@sandbox_options
@session_options
def check(session: Session, file: Path, game: Game, wall: WallChoice) -> None:
    """Runs the checks of `submit` on a FILE (- is what is piped in) and stores nothing."""
    source = read_policy(session, file)
    with session.practice(wall) as arena:
        if isinstance(source, str):  # a network is data
            notice(f"sandbox: {arena.wall}")
        failed = arena.check(source, game)
    if failed is not None:
        rejected(session, failed)
    session.answer(
        {"ref": None, "digest": None, "status": "ok", "reason": ""},
        lambda out: out.print(f"[bold green]ok[/]  {plain(str(file))} plays {game.title}"),
    )


def _summary(version: PolicyVersion) -> dict[str, Any]:
    return {
        "ref": version.ref,
        "also": list(version.also),
        "digest": version.digest,
        "game": version.game,
        "kind": version.kind,
        "status": version.status.value,
        "description": version.description,
        "labels": dict(version.labels),
        "created": version.created.isoformat(),
    }


@click.command(name="list")
@optional_game
@click.option("--author", metavar="NAME", help="Only this author's.")
@click.option("--kind", metavar="KIND", help="native, tabular, neural, python, mixture, llm.")
@click.option("--status", type=click.Choice([s.value for s in Status]), help="Only these.")
@click.option("--label", "labels", multiple=True, callback=_labels, metavar="K=V", help="Label.")
@click.option("--search", "text", metavar="TEXT", help="In names and descriptions.")
@session_options
def list_(
    session: Session,
    game: Game | None,
    author: str | None,
    kind: str | None,
    status: str | None,
    labels: Mapping[str, str],
    text: str | None,
) -> None:
    """Lists registered policies."""
    found = session.roster().policies(
        game,
        author=author,
        kind=kind,
        status=Status(status) if status else None,
        labels=labels,
        text=text,
    )

    session.answer(
        {"policies": [_summary(v) for v in found]}, lambda out: found.sheet(out.width).print_on(out)
    )


@click.command()
@click.argument("ref", type=REF)
@optional_game
@click.option("--source", is_flag=True, help="Print the source or payload and nothing else.")
@session_options
def show(session: Session, ref: str, game: Game | None, source: bool) -> None:
    """Shows a policy: who wrote it, when, from what, and where it stands."""
    arena = session.arena()
    version = arena.policy(ref, game)
    conduct = arena.conduct(version.digest, version.game)
    document = {
        **_summary(version),
        "status_reason": version.status_reason,
        "conduct": asdict(conduct),
        "provenance": dict(version.provenance),
        "parents": [{"digest": p.digest, "relation": p.relation} for p in version.parents],
    }
    if source:
        document["source"] = version.payload

    def human(out: Console) -> None:
        if source:
            if out.is_terminal and version.kind == "python":
                from arena.cli.coloured import coloured

                out.print(coloured(shown(version.payload)), soft_wrap=True)
            else:
                from arena.kinds.neural import KIND as NEURAL
                from arena.readable import readable

                text = readable(version) if version.kind == NEURAL else version.payload
                click.echo(text, nl=not text.endswith("\n"))
            return
        from arena.conduct import in_words

        for key, value in (*_facts(version), *in_words(conduct).items()):
            out.print(f"[bold]{key:12}[/] {plain(value)}")

    session.answer(document, human)


def _facts(version: PolicyVersion) -> list[tuple[str, str]]:
    facts = [
        ("policy", version.ref),
        ("also", ", ".join(version.also)),
        ("game", version.game),
        ("kind", version.kind),
        ("status", " ".join(filter(None, (version.status.value, version.status_reason)))),
        ("digest", version.digest),
        ("registered", version.created.isoformat(timespec="seconds")),
        ("description", version.description),
    ]
    facts += [(f"{key}", str(value)) for key, value in sorted(version.provenance.items())]
    facts += [("label", f"{key}={value}") for key, value in sorted(version.labels.items())]
    facts += [("parent", f"{p.digest[:12]} ({p.relation})") for p in version.parents]
    return [(key, value) for key, value in facts if value]


@click.command()
@click.argument("ref", type=REF)
@optional_game
@session_options
def history(session: Session, ref: str, game: Game | None) -> None:
    """Tells what became of a policy: every status that it had, when and why, oldest first.

    Others who handed in the same content have names of their own for it, which are told too.
    """
    roster = session.roster()
    version = roster.policy(ref, game)
    changes = roster.history(version.digest, version.game)
    document = {
        "ref": version.ref,
        "digest": version.digest,
        "history": [
            {
                "ref": one.ref,
                "status": one.status.value,
                "reason": one.reason,
                "changed": one.changed.isoformat(),
            }
            for one in changes
        ],
    }

    def human(out: Console) -> None:
        for one in changes:
            when = f"{one.changed:%Y-%m-%d %H:%M:%S}"
            whose = f"{one.ref}  " if version.also else ""
            line = f"{when}  [bold]{one.status.value:11}[/]  {plain(f'{whose}{one.reason}')}"
            out.print(line.rstrip(), soft_wrap=True)

    session.answer(document, human)


@click.command()
@click.argument("ref", type=REF)
@optional_game
@click.option("--reason", default="", help="Why; shown with the policy.")
@session_options
def yank(session: Session, ref: str, game: Game | None, reason: str) -> None:
    """Withdraws a policy from round robins.  Its matches stay.

    Others who handed in the same content keep their names for it.
    """
    version = session.arena().withdraw(ref, game, reason)
    left = f"; it goes on as {', '.join(version.also)}" if version.also else ""
    undo = session.typed(f"arena reinstate {version.ref} --game {version.game}")
    told = f"yanked  {version.ref}{left} (undo: {undo})"
    session.answer(_summary(version), lambda out: out.print(plain(told), soft_wrap=True))


@click.command()
@click.argument("ref", type=REF)
@optional_game
@click.option("--reason", default="", help="Why; kept in the policy's history.")
@session_options
def reinstate(session: Session, ref: str, game: Game | None, reason: str) -> None:
    """Lets a withdrawn or quarantined policy take part again."""
    found = session.arena().reinstate(ref, game, reason)
    session.answer(_summary(found), lambda out: out.print(f"qualified  {found.ref}"))


COMMANDS: tuple[click.Command, ...] = (
    submit,
    check,
    list_,
    show,
    history,
    yank,
    reinstate,
)
