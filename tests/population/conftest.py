"""Runs that several tests look at: made once, never changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena import Arena
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
