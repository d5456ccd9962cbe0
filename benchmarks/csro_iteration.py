"""What an iteration of CSRO takes, and where: matches, the oracle, and everything else.

    python benchmarks/csro_iteration.py [--iterations 3]

The built-in grammar, linear refinement, in a new home for each game, through the command line.
"everything else" is CSRO itself: payoffs, the meta-solver, records, and starting up.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import click

from population.runs import Runs

NAME = "measured"


@click.command()
@click.option("--iterations", default=3, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(iterations: int, seed: int) -> None:
    """Prints seconds for each iteration of a run."""
    click.echo("game    k  seconds  matches in  oracle in  the rest  matches  a match, ms")
    for game in ("rrps", "leduc"):
        with tempfile.TemporaryDirectory() as folder:
            words = f"run --game {game} --seed {seed} --name {NAME} --iterations {iterations}"
            command = [str(Path(sys.executable).with_name("csro")), *words.split()]
            subprocess.run([*command, "--home", folder], check=True, stdout=sys.stderr)
            runs = Runs(Path(folder))
            steps = runs.iterations(NAME)
            for step in steps:
                effort = step.effort
                rest = effort.seconds - effort.match_seconds - effort.oracle_seconds
                each = 1e3 * effort.match_seconds / max(effort.matches, 1)
                click.echo(
                    f"{game:6s} {step.k:2d}  {effort.seconds:7.1f}  {effort.match_seconds:10.1f}  "
                    f"{effort.oracle_seconds:9.1f}  {rest:8.2f}  {effort.matches:7d}  {each:11.1f}"
                )


if __name__ == "__main__":
    main()
