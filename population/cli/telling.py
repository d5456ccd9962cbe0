"""What a run came to, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.cli.session import Session
from arena.local import Arena
from population.cli.advice import advise
from population.csro import Result
from population.members import Member
from population.records import RunRecord
from population.report.facts import members_of
from population.runs import Runs

if TYPE_CHECKING:
    from rich.console import Console


def told_again(arena: Arena, runs: Runs, run_name: str) -> Result:
    """What a finished run came to; asks no oracle and plays nothing."""
    record = runs.get(run_name)
    labels = members_of(record, runs.iterations(run_name))
    versions = arena.versions([*labels, record.mixture])
    members = tuple(
        Member(one, label, versions[one].payload, versions[one].kind)
        for one, label in labels.items()
    )
    assert record.final is not None  # a finished run has one
    return Result(members, record.final, versions[record.mixture])


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
    for digest, weight in result.sigma.support.items():
        out.print(f"  {weight:6.1%}  {labels[digest]}  {digest[:12]}")
    commands = (
        f"csro report {record.name} --evaluate 100",
        f"arena evaluate {result.mixture.ref} --game {record.config.game}",
    )
    advise(out, "measure it", "\n        or:  ".join(map(session.typed, commands)))
