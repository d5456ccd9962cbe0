"""The command that forgets a run."""

from __future__ import annotations

import click

from arena.cli.session import Session, session_options
from population.cli.keeping import runs_of


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask.")
@session_options
def delete(session: Session, run_name: str, yes: bool) -> None:
    """Forgets RUN: its iterations, its attempts and its model calls; its name is free again.

    Policies that it registered and matches that they played stay.
    """
    from population.oracles import journal_of

    session.roster()  # says so where there is no home
    runs = runs_of(session)
    runs.get(run_name)  # says so where there is none
    journal = journal_of(runs, run_name)
    done, calls = runs.done(run_name), len(journal.calls())
    if not yes:
        kept = f"{done} iterations and {calls} answers of a model"
        click.confirm(f"{run_name}: {kept} cannot be had back.  Forget them?", abort=True)
    with runs.working_on(run_name):
        runs.delete(run_name)
        journal.forget()
    document = {"run": run_name, "iterations": done, "calls": calls}
    session.answer(document, lambda out: out.print(f"forgot {run_name}"))


COMMANDS: tuple[click.Command, ...] = (delete,)
