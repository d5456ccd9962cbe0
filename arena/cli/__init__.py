"""The `arena` command.  Each group of commands has a module of its own here."""

from __future__ import annotations

import click

from arena.cli import authors, entrants, games, machine, matches, seasons, standings


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="policy-arena", prog_name="arena")
def main() -> None:
    """Policy Arena: tournaments of code policies in repeated games.

    Submit a policy, play the round robin, read the leaderboard, replay any match.
    Everything is kept in one home folder (--home or ARENA_HOME).
    """


for group in (games, entrants, authors, matches, standings, seasons, machine):
    for entry in group.COMMANDS:
        main.add_command(entry)
