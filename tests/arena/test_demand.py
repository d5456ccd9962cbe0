"""What policies took for a match is measured where they share workers, and learnt."""

from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

import arena.worker_walls
from arena.bouts import BoutHandler, demands_of, play_in_box
from arena.demand import UNKNOWN, Demand, Demands, mean_demands
from arena.executors.local import LocalExecutor
from arena.games import game
from arena.plan import Chunk, Player, Route, bout_of
from arena.values import Match
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxRefused, SandboxUnavailable
from sandbox.process import ProcessWall
from sandbox.values import Limits, Outcome
from tests.arena.test_plan import SEEDS, as_they_are

PLAIN = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
HOARDER = """
class Agent:
    def __init__(self):
        self.hoard = bytearray(12 << 20)
        self.hoard[::4096] = b"x" * (3 << 10)

    def act(self, observation):
        for step in range(200):
            pass
        return "PAPER"
"""


def test_demands_go_halfway_to_what_was_seen():
    known = Demands()
    assert known.of("aa") == UNKNOWN
    known.learn({"aa": Demand(2.0, 8.0)})
    assert known.of("aa") == Demand(2.0, 8.0)
    known.learn({"aa": Demand(1.0, 0.0)})
    assert known.of("aa") == Demand(1.5, 4.0)
    known.learn({"cc": Demand(0.5, 2.0)})
    assert known.of("dd") == Demand(1.0, 3.0).times(2.0), "a guess by those that were seen"
    assert mean_demands({"bb": [Demand(1.0, 2.0), Demand(3.0, 4.0)]}) == {"bb": Demand(2.0, 3.0)}


def test_policies_of_a_block_took_no_more_than_its_time():
    players = {name: Player(name, "python", PLAIN) for name in ("aa", "bb")}
    bouts = [
        bout_of(Match("rrps", 1, "aa", "bb", repetition), SEEDS, as_they_are)
        for repetition in range(2)
    ]
    chunk = Chunk(Route.BOX, "rrps", tuple(bouts), players, shared=True)
    outcomes = [Outcome(b"", None, (3.0, 1.0)), Outcome(b"", None, (1.0, 3.0))]
    right = demands_of(chunk, outcomes, 100.0)
    assert right == {"aa": Demand(3.0, 0.0), "bb": Demand(1.0, 0.0)}
    inflated = demands_of(chunk, outcomes, 4.0)
    assert inflated == {"aa": Demand(1.5, 0.0), "bb": Demand(0.5, 0.0)}
    idle = [Outcome(b"", None, (0.0, 0.0))] * 2
    assert demands_of(chunk, idle, 4.0)["bb"] == Demand(0.0, 0.0)


@pytest.mark.parametrize("shared", [True, False])
def test_a_shared_block_tells_what_each_policy_took(shared):
    players = {
        name: Player(name, "python", source) for name, source in (("aa", PLAIN), ("bb", HOARDER))
    }
    bouts = tuple(
        bout_of(Match("rrps", 1, "aa", "bb", repetition), SEEDS, as_they_are)
        for repetition in range(4)
    )
    handler = BoutHandler()
    try:
        chunk = Chunk(Route.BOX, "rrps", bouts, players, shared, wall=WallChoice("process"))
        demands = handler.run(chunk).demands
    finally:
        handler.close()
    if not shared:
        assert demands == {}
        return
    assert demands["bb"].seconds > demands["aa"].seconds > 0.0
    assert 10.0 < demands["bb"].mebibytes < 20.0
    assert demands["aa"].mebibytes < 6.0


def a_boxed_match():
    players = {name: Player(name, "python", PLAIN) for name in ("aa", "bb")}
    bouts = (bout_of(Match("rrps", 1, "aa", "bb", 0), SEEDS, as_they_are),)
    return Chunk(Route.BOX, "rrps", bouts, players, wall=WallChoice("process"))


def test_only_a_machine_without_any_box_is_refused(monkeypatch):
    """A second box that does not open says nothing of the machine: the chunk is tried again."""
    chunk, handler, opened = a_boxed_match(), BoutHandler(), []

    def breaks(*asked):
        if len(opened) in (0, 2):
            opened.append(None)
            raise SandboxUnavailable("the box did not start")
        opened.append(open_wall(*asked))
        return opened[-1]

    monkeypatch.setattr("arena.worker_walls.open_wall", breaks)
    try:
        with pytest.raises(SandboxRefused, match="did not start"):
            handler.run(chunk)
        assert len(handler.run(chunk).results) == 1
        with pytest.raises(SandboxUnavailable, match="did not start"):
            handler.run(replace(chunk, audit=True))
        assert len(handler.run(replace(chunk, audit=True)).results) == 1
    finally:
        handler.close()


def in_trouble(error):
    """A handler whose first box breaks, whose second one does not open, and whose third is well."""
    opened = []

    def open_or_not(*asked):
        opened.append(None)
        if len(opened) == 2:
            raise error
        wall = open_wall(*asked)
        if len(opened) == 1:
            wall.close()
        return wall

    arena.worker_walls.open_wall = open_or_not  # in the worker, which is a process of its own
    return BoutHandler()


@pytest.mark.parametrize(
    "error",
    [
        OSError(11, "cannot fork now"),
        SandboxRefused("cannot fork now"),
        SandboxUnavailable("cannot fork now"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_box_that_broke_and_does_not_open_at_once_is_tried_again(error, caplog):
    with closing(LocalExecutor(partial(in_trouble, error), most=1)) as executor:
        executor.grow(1)
        (played,) = executor.run(iter([a_boxed_match()]))
    assert len(played.results) == 1
    assert caplog.text.count("its chunk is played again") == 2
    assert "cannot fork now" in caplog.text


def test_who_was_ended_for_its_memory_is_known_to_need_it():
    source = HOARDER.replace("12 << 20", "120 << 20").replace("3 << 10", "30 << 10")
    players = {name: Player(name, "python", text) for name, text in (("aa", PLAIN), ("bb", source))}
    bouts = tuple(
        bout_of(Match("rrps", 1, "aa", "bb", repetition), SEEDS, as_they_are)
        for repetition in range(8)
    )
    wall = ProcessWall(memory_mib=400)
    try:
        played = play_in_box(
            game("rrps"), Chunk(Route.BOX, "rrps", bouts, players, shared=True), wall, Limits()
        )
    finally:
        wall.close()
    assert played.voided, "so much does not fit in the box"
    assert played.demands["bb"].mebibytes > 20.0
