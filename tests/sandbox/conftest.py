"""Walls for the tests of the sandbox: one of each kind, opened once and used by all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from sandbox import gvisor_image
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError, SandboxUnavailable
from sandbox.gvisor_docker import find_runtime
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


def without_gvisor(why: str) -> NoReturn:
    """Skips, or fails where gVisor is required: a variable of the tests, not of the arena."""
    if os.environ.get("ARENA_TEST_REQUIRE_GVISOR") == "1":
        pytest.fail(f"gVisor is required here: {why}", pytrace=False)
    pytest.skip(f"gVisor is not available: {why}")


@pytest.fixture(scope="session")
def gvisor() -> None:
    """Docker with runsc, and the image of today's box files, which is built where it is missing."""
    try:
        find_runtime()
        if gvisor_image.image_state() != "current":
            gvisor_image.build_image()
    except SandboxUnavailable as error:
        without_gvisor(str(error))


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
            if kind.startswith("gvisor"):
                without_gvisor(f"{kind}: {error}")
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
    if request.param == "gvisor":
        request.getfixturevalue("gvisor")
    return walls.get(request.param)


@pytest.fixture(scope="session")
def throws() -> Rules:
    """Rules of the 20-throw game."""
    table = Path(__file__).with_name("throws_table.py")
    return Rules(table, "Probe", (("act", 1),))
