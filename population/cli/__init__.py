"""The `csro` command.  Each group of commands has a module of its own here."""

from __future__ import annotations

import click

from population.cli import deleting, exploiting, reading, reproducing, running


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="policy-arena", prog_name="csro")
def main() -> None:
    """Code-Space Response Oracles: grows a population of programs that beat each other.

    A run needs no key: without one, a grammar writes the programs.  Everything is kept in the
    arena's home folder (--home or ARENA_HOME); a run that is interrupted goes on with `resume`.
    """


for group in (running, reading, exploiting, reproducing, deleting):
    for entry in group.COMMANDS:
        main.add_command(entry)
