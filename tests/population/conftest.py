"""Runs that several tests look at: made once, never changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena import Arena
from tests.population.small_run import run_small

SEEDS = (1, 2)


@pytest.fixture(scope="session")
def finished(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """An arena with two finished runs, "s1" and "s2", made one after the other."""
    home = shutil.copytree(house, tmp_path_factory.mktemp("finished") / "home")
    with Arena(home, sandbox="process", workers=1) as arena:
        for seed in SEEDS:
            run_small(arena, f"s{seed}", seed)
        yield arena
