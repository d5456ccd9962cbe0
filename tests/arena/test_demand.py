"""What policies took for a match is measured where they share workers, and learnt."""

import pytest

from arena.bouts import BoutHandler, play_in_box
from arena.demand import UNKNOWN, Demand, Demands, mean_demands
from arena.games import game
from arena.plan import Job, Player, Route, bout_of
from arena.values import Match
from sandbox.choose import WallChoice
from sandbox.process import ProcessWall
from sandbox.values import Limits
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
    assert mean_demands({"bb": [Demand(1.0, 2.0), Demand(3.0, 4.0)]}) == {"bb": Demand(2.0, 3.0)}


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
        job = Job(Route.BOX, "rrps", bouts, players, shared, wall=WallChoice("process"))
        demands = handler.run(job).demands
    finally:
        handler.close()
    if not shared:
        assert demands == {}
        return
    assert demands["bb"].seconds > demands["aa"].seconds > 0.0
    assert 10.0 < demands["bb"].mebibytes < 20.0
    assert demands["aa"].mebibytes < 6.0


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
            game("rrps"), Job(Route.BOX, "rrps", bouts, players, shared=True), wall, Limits()
        )
    finally:
        wall.close()
    assert played.voided, "so much does not fit in the box"
    assert played.demands["bb"].mebibytes > 20.0
