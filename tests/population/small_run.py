"""A run that takes seconds: in this process, or as a program that can be killed.

As a program it prints a line for every event, so that whoever reads them can kill it at a chosen
moment:  python -m tests.population.small_run HOME NAME SEED
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from arena import Arena, game
from population.config import OracleChoice, RunConfig
from population.csro import Result
from population.evaluator import Lineage
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.records import Iteration
from population.runs import Runs
from tests.population.scripted_oracles import SmallOracle

ITERATIONS = 2


class Silent:
    """Watches a run and says nothing."""

    def begins(self, k: int, iterations: int) -> None:
        pass

    def ends(self, iteration: Iteration) -> None:
        pass

    def plays(self, done: int, wanted: int) -> None:
        pass


class Loud(Silent):
    """Says everything at once."""

    def begins(self, k: int, iterations: int) -> None:
        print(f"begins {k}", flush=True)

    def ends(self, iteration: Iteration) -> None:
        print(f"ends {iteration.k}", flush=True)

    def plays(self, done: int, wanted: int) -> None:
        print(f"plays {done} of {wanted}", flush=True)


def small_config(seed: int, iterations: int = ITERATIONS, *, afresh: bool = True) -> RunConfig:
    return RunConfig(
        "rrps",
        OracleChoice("best-of-n"),
        iterations,
        seed,
        matches=Measuring(4, 8),
        afresh=afresh,
    )


def run_small(
    arena: Arena,
    name: str,
    seed: int,
    *,
    oracle: SmallOracle | None = None,
    iterations: int = ITERATIONS,
    afresh: bool = True,
    watcher: Silent | None = None,
) -> Result:
    """Runs to the end, from wherever it was left."""
    runs = Runs(arena.home.path)
    config = small_config(seed, iterations, afresh=afresh)
    runs.start(name, config)
    watcher = watcher or Silent()
    matches = Matches(arena, game("rrps"), progress=watcher.plays)

    def lineage_of(source: str) -> Lineage:
        return Lineage({"run": name})

    return carry_out(runs, name, config, oracle or SmallOracle(), lineage_of, matches, watcher)


def told(home: Path, name: str) -> dict[str, Any]:
    """Everything that two equal runs have in common: all but names and times."""
    runs = Runs(home)
    record = runs.get(name)
    return {
        "initial": record.initial,
        "final": record.final,
        "mixture": record.mixture,
        "iterations": [
            (one.k, one.sigma, one.accepted, one.u, one.stderr, one.attempts)
            for one in runs.iterations(name)
        ],
    }


def main() -> None:
    folder, name, seed = sys.argv[1:]
    with Arena(folder, sandbox="process", workers=1) as arena:
        run_small(arena, name, int(seed), watcher=Loud())
    print("finished", flush=True)


if __name__ == "__main__":
    main()
