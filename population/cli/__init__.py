"""The `csro` command.  Each group of commands has a module of its own here."""

from __future__ import annotations

import sys

try:
    import click

    from arena.cli.lazy import LazyGroup
except KeyboardInterrupt:  # before there is anything else to catch it
    sys.stderr.write("stopped before it began\n")
    sys.exit(130)

PLACES = {
    "run": "population.cli.running",
    "resume": "population.cli.running",
    "prompt": "population.cli.running",
    "list": "population.cli.listing",
    "report": "population.cli.reading",
    "table": "population.cli.reading",
    "exploit": "population.cli.exploiting",
    "reproduce": "population.cli.reproducing",
    "delete": "population.cli.deleting",
    "agent": "population.cli.agent",
}
SUMMARIES = {
    "run": "Runs CSRO and registers its meta-strategy as the policy csro/RUN.",
    "resume": "Goes on with RUN from wherever it was left; a finished run is only told again.",
    "prompt": "Prints prompts; nothing is sent.",
    "list": "Lists runs, oldest first.",
    "report": "Tells about RUN: a summary here, a page with --html, tables with --csv.",
    "table": "Prints the paper's table of a game with our finished runs beside it.",
    "exploit": "Looks for a readable program that wins as much as it can from REF.",
    "reproduce": "Plays what the paper's tables of GAME compare, and writes them with ours beside.",
    "delete": "Forgets RUN: its iterations, its attempts and its model calls.",
    "agent": "A language model that plays a game move by move, as an entrant.",
}


@click.group(
    cls=LazyGroup,
    places=PLACES,
    summaries=SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="policy-arena", prog_name="csro")
def main() -> None:
    """Code-Space Response Oracles: grows a population of programs that beat each other.

    A run needs no key: without one, a grammar writes the programs.  Everything is kept in the
    arena's home folder (--home or ARENA_HOME); a run that is interrupted goes on with `resume`.
    """
