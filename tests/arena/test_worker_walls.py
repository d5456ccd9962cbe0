"""A worker's boxes stay on one core, and go where there is more of one."""

import os
import tempfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.bouts import BoutHandler
from arena.worker_walls import Walls
from sandbox.choose import WallChoice, open_wall
from sandbox.cores import CoreLease
from sandbox.errors import SandboxUnavailable
from tests.arena.test_bouts import duplicates

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) == 1, reason="there is no choice of cores"
)


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """All walls that were opened, where nobody else's boxes are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    walls = []

    def open_watched(*asked):
        walls.append(open_wall(*asked))
        return walls[-1]

    monkeypatch.setattr("arena.worker_walls.open_wall", open_watched)
    return walls


def test_a_worker_leaves_a_core_that_it_shares_once_another_is_free(monkeypatch, opened):
    """Two programs that began while the machine was full must not share half of it for good."""
    clock = [0.0]
    monkeypatch.setattr("arena.worker_walls.time", SimpleNamespace(monotonic=lambda: clock[0]))
    chunk = replace(duplicates("rrps", 1), wall=WallChoice("process"))
    early = [CoreLease() for _ in os.sched_getaffinity(0)]
    handler = BoutHandler(_walls=Walls(_looked=0.0))
    try:
        first = handler.run(chunk)
        handler.run(replace(chunk, audit=True))
        assert [wall.core for wall in opened] == [early[0].core] * 2
        early[1].close()
        handler.run(chunk)
        assert len(opened) == 2, "it does not look all the time"
        clock[0] = 11.0
        moved = handler.run(chunk)
        handler.run(replace(chunk, audit=True))
        assert [wall.core for wall in opened[2:]] == [early[1].core] * 2
        clock[0] = 22.0
        handler.run(chunk)
        assert len(opened) == 4, "and stays where nobody else is"
    finally:
        handler.close()
        for lease in early:
            lease.close()
    assert [one.moves for one in moved.results] == [one.moves for one in first.results]


def test_a_box_that_does_not_open_elsewhere_at_once_is_tried_again(monkeypatch, opened):
    """It stands for one that was well, and the request was going on."""
    clock, troubles = [0.0], []
    monkeypatch.setattr("arena.worker_walls.time", SimpleNamespace(monotonic=lambda: clock[0]))
    early = [CoreLease() for _ in os.sched_getaffinity(0)]
    walls = Walls(_looked=0.0)

    def open_or_not(*asked):
        if troubles:
            raise troubles.pop()
        return open_wall(*asked)

    try:
        walls.opened(WallChoice("process"), audit=False)
        early[1].close()
        clock[0] = 11.0
        monkeypatch.setattr("arena.worker_walls.open_wall", open_or_not)
        troubles.append(SandboxUnavailable("no memory for a moment"))
        assert walls.opened(WallChoice("process"), audit=False).core == early[1].core
        assert not troubles
        troubles.append(SandboxUnavailable("no memory for a moment"))
        with pytest.raises(SandboxUnavailable, match="for a moment"):
            walls.opened(WallChoice("process"), audit=True)  # which took nobody's place
    finally:
        walls.close()
        for lease in early:
            lease.close()


def test_a_box_for_audits_takes_no_core_of_another_worker(opened):
    walls = Walls()
    try:
        mine = walls.opened(WallChoice("process"), audit=False)
        again = walls.opened(WallChoice("process"), audit=True)
        assert walls.opened(WallChoice("process"), audit=True) is again
        assert not mine.is_crowded and not again.is_crowded
        other = CoreLease()
        assert (again.core, other.place) == (mine.core, 0) and other.core != mine.core
        other.close()
    finally:
        walls.close()
    assert len(opened) == 2
