"""Boxes behind gVisor stay on a core each, where Docker and the machine let them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import sandbox
from sandbox.gvisor import GVisorWall
from sandbox.gvisor_docker import ask_docker, find_runtime
from sandbox.link import descendants
from sandbox.rootless import RootlessWall
from sandbox.values import Block, BlockMatch, Rules, SeatPlan

pytestmark = [pytest.mark.gvisor, pytest.mark.usefixtures("gvisor")]

TABLE = Path(sandbox.__file__).resolve().parent.parent / "arena" / "games" / "rrps" / "table.py"
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
MATCH = Block(
    Rules(TABLE, "Agent", (("act", 1),)),
    (ROCK,),
    (BlockMatch(1, (SeatPlan(0, 1), SeatPlan(0, 2))),),
    isolate=True,
)


@pytest.mark.parametrize("is_here", [True, False])
def test_where_docker_cannot_keep_it_on_a_core_it_has_all(
    monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    runtime = replace(find_runtime(), is_here=is_here)
    monkeypatch.setattr("sandbox.gvisor.find_runtime", lambda: runtime)
    monkeypatch.setattr("sandbox.cores.os.sched_getaffinity", lambda process: {4000, 4001})
    wall = GVisorWall()
    try:
        (seen,) = json.loads(ask_docker("inspect", wall.container))
        (outcome,) = wall.play(MATCH)
    finally:
        wall.close()
    assert (wall.core, seen["HostConfig"]["CpusetCpus"], outcome.fault) == (None, "", None)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="there is no choice of cores")
@pytest.mark.parametrize("kind", [GVisorWall, RootlessWall])
def test_boxes_of_one_program_stay_on_cores_of_their_own(
    kind: type[GVisorWall] | type[RootlessWall],
) -> None:
    walls = [kind(), kind()]
    try:
        stays = [_cores_of_gvisor(wall) for wall in walls]
    finally:
        for wall in walls:
            wall.close()
    assert all(len(cores) == 1 for cores in stays)
    assert stays[0] != stays[1]
    assert len(os.sched_getaffinity(0)) > 1


def _cores_of_gvisor(wall: GVisorWall | RootlessWall) -> set[int]:
    """Where all processes of a box may run."""
    above = wall.box.pid
    if isinstance(wall, GVisorWall):
        above = int(ask_docker("inspect", "--format", "{{.State.Pid}}", wall.container))
    return set().union(*(os.sched_getaffinity(pid) for pid in (above, *descendants(above))))
