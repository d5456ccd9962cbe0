"""Runs that several tests look at: made once, never changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena import Arena, game
from arena.house.population import default_population
from population.matches import Matches
from population.report.facts import sigmas_of
from population.runs import Runs
from population.scores import measure, to_measure
from tests.population.small_run import run_small

SEEDS = (1, 2)


@pytest.fixture(scope="session")
def finished(house: Path, made_once: Callable[..., Path]) -> Iterator[Arena]:
    """An arena with two finished runs, "s1" and "s2", made one after the other."""

    def make(path: Path) -> None:
        shutil.copytree(house, path)
        with Arena(path, sandbox="process", workers=1) as arena:
            for seed in SEEDS:
                run_small(arena, f"s{seed}", seed)

    with Arena(made_once("finished", make), sandbox="process", workers=1) as arena:
        yield arena


@pytest.fixture(scope="session")
def measured(finished: Arena) -> Arena:
    """The run s1, its members played against the whole evaluation population."""
    runs = Runs(finished.home.path)
    wanted = to_measure(sigmas_of(runs.get("s1"), runs.iterations("s1")), 4)
    matches = Matches(finished, game("rrps"), shared=True)
    known = measure(matches, wanted, default_population("rrps"))
    final = runs.get("s1").final
    assert final is not None
    scores = known.of(final.weights)
    assert scores is not None
    assert scores.matches >= 4
    return finished
