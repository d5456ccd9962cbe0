"""Commands about this machine: doctor, dashboard."""

from __future__ import annotations

import os
import subprocess
import sys

import click
from rich.console import Console
from rich.table import Table

from arena.cli.session import Session, plain, session_options
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
            table.add_row(finding.name, state, plain(finding.detail), plain(finding.remedy))
        out.print(table)

    session.answer(document, human)
    if any(finding.state.value == "fail" for finding in findings):
        sys.exit(1)


@click.command()
@click.option("--port", default=8501, show_default=True, type=click.IntRange(1, 65535))
@session_options
def dashboard(session: Session, port: int) -> None:
    """Shows the home as web pages, on this machine only.

    The pages are a client of the arena, so they run as a program of their own.
    """
    session.arena()
    command = [sys.executable, "-m", "dashboards", "--home", str(session.home_path)]
    environment = dict(os.environ)
    if session.registry_url:
        environment["ARENA_REGISTRY"] = session.registry_url
    try:
        sys.exit(subprocess.run([*command, "--port", str(port)], env=environment).returncode)
    except KeyboardInterrupt:
        sys.exit(0)


COMMANDS: tuple[click.Command, ...] = (doctor, dashboard)
