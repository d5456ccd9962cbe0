"""Commands about this machine: doctor, dashboard."""

from __future__ import annotations

import os
import sys

import click
from rich.console import Console
from rich.table import Table

from arena.cli.session import Session, answer_options, plain
from sandbox.doctor import examine

_COLOURS = {"ok": "green", "warn": "yellow", "missing": "yellow", "fail": "red"}


@click.command()
@click.option("--quick", is_flag=True, help="Look only; do not run the walls' self-checks.")
@answer_options
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
            table.add_row(finding.name, state, plain(finding.detail), plain(finding.remedy))
        out.print(table)

    session.answer(document, human)
    if any(finding.state.value == "fail" for finding in findings):
        sys.exit(1)


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def dashboard(options: tuple[str, ...]) -> None:
    """Shows the home as web pages; --help lists the options."""
    # The pages are a client of the arena, so they are a program of their own.  This process
    # becomes it: what ends the one ends the other, and nothing is left behind on the port.
    os.execv(sys.executable, [sys.executable, "-m", "dashboards", *options])


COMMANDS: tuple[click.Command, ...] = (doctor, dashboard)
