"""Commands about this machine: doctor, dashboard."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table

from arena.cli.session import Session, session_options
from sandbox.doctor import examine

_COLOURS = {"ok": "green", "warn": "yellow", "missing": "yellow", "fail": "red"}


@click.command()
@click.option("--quick", is_flag=True, help="Look only; do not run the walls' self-checks.")
@session_options
def doctor(session: Session, quick: bool) -> None:
    """Says what this machine has to hold untrusted code, and what to do about the rest."""
    findings = examine(self_check=not quick)
    document = {
        "findings": [
            {"name": f.name, "state": f.state.value, "detail": f.detail, "remedy": f.remedy}
            for f in findings
        ]
    }

    def human(out: Console) -> None:
        table = Table("what", "state", "detail", "what to do", box=None)
        for finding in findings:
            colour = _COLOURS.get(finding.state.value, "white")
            state = f"[{colour}]{finding.state}[/]"
            table.add_row(finding.name, state, finding.detail, finding.remedy)
        out.print(table)

    session.answer(document, human)
    if any(finding.state.value == "fail" for finding in findings):
        sys.exit(1)


COMMANDS: tuple[click.Command, ...] = (doctor,)
