"""What all tests share."""

import fcntl
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from arena import Arena

ROOT = Path(__file__).resolve().parent.parent
SEED_KEY = bytes(range(32))
"""Of every arena that the tests make: a match comes out the same in each of them."""

# How long an example takes says more about the machine's other work than about the code.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")
# Whatever a shell runs in the background ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

ALONE = (
    "tests/sandbox/test_box_limits.py",
    "tests/sandbox/test_clocks.py",
    "tests/sandbox/test_limited.py",
    "tests/sandbox/test_process_wall.py",
    "tests/arena/test_cluster.py",
    "tests/arena/test_play_alone.py",
    "tests/arena/test_executors.py",
    "tests/dashboards/test_dashboards_gvisor.py",
    "tests/dashboards/test_dashboards_interrupted.py",
    "tests/oracle/test_model_paid_once.py",
    "tests/population/test_csro_killed.py",
)
"""Tests that hold something to its time, or kill it at a moment: a neighbour would disturb them.

So do all that play behind gVisor, which does not tell who was kept from computing.  The process
wall charges nobody for what neighbours took, and its contract is tested beside neighbours.
"""


SANDBOX = "tests/sandbox/"
"""Where some tests of a file are alone, and others are not."""


def pytest_ignore_collect(collection_path, config):
    """Nothing else is imported for those that run alone: that took longer than many of them."""
    if config.option.markexpr != "alone" or collection_path.suffix != ".py":
        return None
    place = collection_path.relative_to(ROOT).as_posix()
    return None if place.startswith((SANDBOX, *ALONE)) else True


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("alone"):  # it would be left out of both runs
            raise pytest.UsageError(f"{item.nodeid}: what is alone is chosen in {__file__}")
        place = item.path.relative_to(ROOT).as_posix()
        behind_gvisor = place.startswith(SANDBOX) and item.get_closest_marker("gvisor")
        if place.startswith(ALONE) or behind_gvisor:
            item.add_marker("alone")


@pytest.fixture(autouse=True, scope="session")
def a_quick_wall():
    """Commands that leave the choice of the wall open take the process wall.

    The walls have tests of their own, which name the wall that they mean.
    """
    before = os.environ.get("ARENA_SANDBOX")
    os.environ["ARENA_SANDBOX"] = "process"
    yield
    if before is None:
        del os.environ["ARENA_SANDBOX"]
    else:
        os.environ["ARENA_SANDBOX"] = before


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Makes folders that take long to make: once for all processes of xdist, a copy for each."""
    together = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        together = together.parent

    def copy_of(name, make):
        made, unfinished = together / f"{name}-once", together / f"{name}-unfinished"
        with (together / f"{name}-lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # given back by a process that ends, however it does
            if not made.exists():
                shutil.rmtree(unfinished, ignore_errors=True)
                make(unfinished)
                unfinished.rename(made)
        return Path(shutil.copytree(made, tmp_path_factory.mktemp(name) / "home"))

    return copy_of


@pytest.fixture(scope="session")
def house(made_once):
    """A home with the house's entrants and the starters in it, to be copied."""
    return made_once("house", lambda at: Arena(at, seed_key=SEED_KEY, sandbox="process").close())


@pytest.fixture
def new_home(house, tmp_path):
    """Makes homes: copies of the house's, with the tests' seed key."""

    def make(place="home"):
        return shutil.copytree(house, tmp_path / place)

    return make


@pytest.fixture
def home(new_home):
    """The folder of a new home."""
    return new_home()


@pytest.fixture
def new_arena(new_home):
    """Opens arenas on new homes, on one worker behind the process wall unless told otherwise."""
    opened = []

    def make(place="home", **options):
        arena = Arena(new_home(place), **{"sandbox": "process", "workers": 1, **options})
        opened.append(arena)
        return arena

    yield make
    for arena in opened:
        arena.close()


@pytest.fixture
def arena(new_arena):
    """An arena on a new home."""
    return new_arena()
