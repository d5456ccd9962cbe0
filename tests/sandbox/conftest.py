"""Walls for the tests of the sandbox: one of each kind, opened once and used by all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError
from sandbox.process import ProcessWall, usable_bubblewrap
from sandbox.values import Rules
from sandbox.wall import Wall

SECRET = "canary-in-the-environment-5d1f"

OPENERS: dict[str, Callable[[], Wall]] = {
    "process-plain": lambda: ProcessWall(bubblewrap=False),
    "process-bubblewrap": lambda: ProcessWall(bubblewrap=True),
    "gvisor": lambda: open_wall(WallChoice("gvisor")),
    "gvisor-rootless": lambda: open_wall(WallChoice("gvisor-rootless")),
}
KINDS = [
    "process-plain",
    "process-bubblewrap",
    pytest.param("gvisor", marks=pytest.mark.gvisor),
    pytest.param("gvisor-rootless", marks=pytest.mark.gvisor),
]


class Walls:
    """Opens walls when they are first wanted, and again when one broke."""

    def __init__(self) -> None:
        self._open: dict[str, Wall] = {}

    def get(self, kind: str) -> Wall:
        if kind not in self._open:
            self._open[kind] = self._opened(kind)
        return self._open[kind]

    @staticmethod
    def _opened(kind: str) -> Wall:
        if kind == "process-bubblewrap" and usable_bubblewrap() is None:
            pytest.skip("bubblewrap is not installed, or may not make namespaces here")
        try:
            return OPENERS[kind]()
        except (SandboxError, ImportError) as error:
            if kind.startswith("gvisor") and os.environ.get("ARENA_REQUIRE_GVISOR") != "1":
                pytest.skip(f"{kind} does not work here: {error}")
            raise

    def close(self) -> None:
        for wall in self._open.values():
            wall.close()


@pytest.fixture(scope="session")
def walls() -> Iterator[Walls]:
    os.environ["ARENA_TEST_CANARY"] = SECRET
    opened = Walls()
    yield opened
    opened.close()
    del os.environ["ARENA_TEST_CANARY"]


@pytest.fixture(params=KINDS)
def wall(request: pytest.FixtureRequest, walls: Walls) -> Wall:
    return walls.get(request.param)


@pytest.fixture(scope="session")
def throws() -> Rules:
    """Rules of the 20-throw game."""
    table = Path(__file__).with_name("throws_table.py")
    return Rules(table, "Probe", (("act", 1),))
