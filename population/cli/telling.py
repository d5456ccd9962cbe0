"""What a run came to, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from arena.cli.session import Session
from population.cli.advice import advise
from population.csro import Result
from population.records import RunRecord
from registry.values import Status

if TYPE_CHECKING:
    from rich.console import Console


def answer(session: Session, record: RunRecord, result: Result, walls: Mapping[str, int]) -> None:
    """Says what a run came to."""
    document = {"run": record.name, **document_of(result), "walls": dict(walls)}
    session.answer(document, lambda out: say(out, session, record, result))


def document_of(result: Result) -> dict[str, Any]:
    """A run's result for JSON."""
    labels = {member.digest: member.label for member in result.members}
    return {
        "ref": result.mixture.ref,
        "digest": result.mixture.digest,
        "members": [{"label": m.label, "digest": m.digest} for m in result.members],
        "sigma": {labels[d]: weight for d, weight in result.sigma.support.items()},
        "exploitability": result.sigma.exploitability,
    }


def say(out: Console, session: Session, record: RunRecord, result: Result) -> None:
    """A run's result for people."""
    labels = {member.digest: member.label for member in result.members}
    if len(result.members) == 1:
        out.print(f"[bold yellow]finished, and nothing joined[/]  {record.name}: 1 member")
        report = session.typed(f"csro report {record.name} --html run.html")
        advise(out, "see what was tried", report)
    else:
        out.print(f"[bold green]finished[/]  {record.name}: {len(result.members)} members")
    out.print(f"meta-strategy  [bold]{result.mixture.ref}[/]")
    if result.mixture.status is Status.QUARANTINED:
        out.print(f"[bold yellow]in quarantine[/]: {escape(result.mixture.status_reason)}")
    for digest, weight in result.sigma.support.items():
        out.print(f"  {weight:6.1%}  {labels[digest]}  {digest[:12]}")
    commands = (
        f"csro report {record.name} --evaluate 100",
        f"arena evaluate {result.mixture.ref} --game {record.config.game}",
    )
    advise(out, "measure it", "\n        or:  ".join(map(session.typed, commands)))
