"""A small run that takes one step for each line on its standard input, and can be killed between.

python -m tests.dashboards.paced_run HOME NAME SEED ITERATIONS
"""

from __future__ import annotations

import sys

from arena import Arena
from population.runs import Runs
from tests.population.small_run import Silent, run_small


class Paced(Silent):
    """Waits for a line before each iteration, and before the last payoff table."""

    def begins(self, k: int, iterations: int) -> None:
        sys.stdin.readline()


def main() -> None:
    folder, name, seed, iterations = sys.argv[1:]
    with (
        Arena(folder, sandbox="process", workers=1) as arena,
        Runs(arena.home.path).working_on(name),
    ):
        run_small(arena, name, int(seed), iterations=int(iterations), watcher=Paced())


if __name__ == "__main__":
    main()
