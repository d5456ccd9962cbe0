"""A chunk becomes a block with no more processes than its deals need."""

from contextlib import closing
from dataclasses import replace

import pytest

from arena.bouts import block_of, play_in_box
from arena.games import game
from arena.plan import Player, bout_of, box_chunk
from arena.values import Match
from sandbox.box.occupants import seating_plan
from sandbox.process import ProcessWall
from sandbox.values import Limits
from tests.arena.test_plan import SEEDS, as_they_are

RANDOM = """
import random

class Agent:
    def act(self, observation):
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
"""


def duplicates(name, deals):
    """So many deals between two policies, each with the seats swapped."""
    players = {one: Player(one, "python", f"# {one}\n{RANDOM}") for one in ("aa", "bb")}
    seats = [("aa", "bb")] * 2 * deals
    bouts = [
        bout_of(Match(name, 1, *pair, number), SEEDS, as_they_are)
        for number, pair in enumerate(seats)
    ]
    return box_chunk(name, bouts, players, shared=True)


def workers(chunk):
    """How many processes play each program."""
    block = block_of(game(chunk.game), chunk, Limits())
    matches = [
        (match.deal_seed, *((seat.program, seat.seed) for seat in match.seats))
        for match in block.matches
    ]
    return [program for program, _ in seating_plan(matches, isolate=False)]


@pytest.mark.parametrize(("name", "each"), [("rrps", 1), ("leduc", 2), ("kuhn", 2)])
def test_halves_of_a_duplicate_share_a_process_where_nothing_is_dealt(name, each):
    assert sorted(workers(duplicates(name, 5))) == [0] * each + [1] * each


def test_a_match_against_oneself_has_two_processes_all_the_same():
    chunk = duplicates("rrps", 2)
    alone = replace(chunk, bouts=tuple(replace(bout, players=("aa", "aa")) for bout in chunk.bouts))
    assert workers(alone) == [0, 0]


def test_matches_come_out_the_same_as_by_themselves():
    chunk, rrps = duplicates("rrps", 3), game("rrps")
    with closing(ProcessWall()) as wall:
        shared, alone = (
            play_in_box(rrps, one, wall, Limits()) for one in (chunk, replace(chunk, shared=False))
        )
    assert [one.moves for one in shared.results] == [one.moves for one in alone.results]
    assert len({one.moves for one in shared.results}) == 6
