"""What all tests share."""

import os

import pytest


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
