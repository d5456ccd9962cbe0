"""Runs that several tests look at: made once, never changed."""

from __future__ import annotations

import pytest

from arena.home import Home, open_home
from tests.population.small_run import run_small

SEEDS = (1, 2)


@pytest.fixture(scope="session")
def finished_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with two finished runs, "s1" and "s2", made one after the other."""
    home = open_home(tmp_path_factory.mktemp("finished"))
    for seed in SEEDS:
        run_small(home, f"s{seed}", seed)
    return home
