"""Chunks hold every match once, by the route that its players need, within the block's bounds."""

from collections import Counter
from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import plan
from arena.demand import Demand, Demands
from arena.plan import (
    BLOCK_DEMAND,
    BLOCK_MATCHES,
    BLOCKS_A_WORKER,
    INSTANCES_PER_WORKER,
    ISOLATED_CHUNK,
    SMALLEST_BLOCK,
    Player,
    Route,
    block_share,
    bout_of,
    chunks,
    route_of,
)
from arena.seeds import Seeds
from arena.values import Match
from registry.values import Season


def players_of(kinds):
    return {f"{i:04x}": Player(f"{i:04x}", kind, f"payload {i}") for i, kind in enumerate(kinds)}


SEEDS = Seeds(Season(1, "", datetime.now(UTC), None, False, bytes(32)))


def as_they_are(digest, seed):
    return digest


def round_robin(players, repetitions):
    return [
        bout_of(Match("rrps", 1, low, high, repetition), SEEDS, as_they_are)
        for repetition in range(repetitions)
        for low, high in combinations(sorted(players), 2)
    ]


@given(
    st.lists(st.sampled_from(["native", "tabular", "python", "llm"]), min_size=2, max_size=40),
    st.integers(1, 4),
    st.booleans(),
)
def test_every_match_is_in_one_chunk_by_the_right_route(kinds, repetitions, shared):
    players = players_of(kinds)
    bouts = round_robin(players, repetitions)
    cut = list(chunks("rrps", iter(bouts), players, shared=shared))
    assert Counter(bout for chunk in cut for bout in chunk.bouts) == Counter(bouts)
    for chunk in cut:
        assert chunk.bouts
        assert set(chunk.players) == {d for bout in chunk.bouts for d in bout.players}
        for bout in chunk.bouts:
            assert bout.players == bout.match.seats
            one, other = (players[d].kind for d in bout.players)
            assert chunk.route is route_of((one, other))
        if chunk.route is Route.BOX:
            assert len(chunk.bouts) <= (BLOCK_MATCHES if shared else ISOLATED_CHUNK)
            load = Counter(d for bout in chunk.bouts for d in bout.players)
            assert max(load.values()) <= INSTANCES_PER_WORKER + 1
            assert chunk.shared is shared


def test_who_is_asked_is_asked_for_so_many_matches_at_once():
    players = players_of(["llm", "llm", "native", "tabular", "native"])
    cut = list(chunks("rrps", round_robin(players, 2), players, share=6))
    asked = [len(chunk.bouts) for chunk in cut if chunk.route is Route.ASKED]
    assert sum(asked) == 2 * 7 and max(asked) == 6
    assert route_of(("python", "llm")) is Route.BOX and route_of(("llm", "llm")) is Route.ASKED


def test_a_mixture_plays_as_the_member_it_drew():
    players = players_of(["python", "native", "native"])
    match = Match("rrps", 1, "0000", "0001", 0)
    asked = []

    def resolve(digest, seed):
        asked.append(seed)
        return "0002" if digest == "0000" else digest

    bout = bout_of(match, SEEDS, resolve)
    (chunk,) = chunks("rrps", [bout], players)
    assert chunk.route is Route.NATIVE
    assert chunk.bouts[0].players == ("0002", "0001")
    assert chunk.bouts[0].match == match
    assert not set(asked) & set(bout.seat_seeds), "a member's stream does not tell the draw"


def test_routes():
    assert route_of(("native", "native")) is Route.NATIVE
    assert route_of(("native", "tabular")) is Route.INLINE
    assert route_of(("tabular", "tabular")) is Route.INLINE
    assert route_of(("python", "native")) is Route.BOX


def cut_by(demand, players, repetitions):
    known = Demands()
    known.learn(dict.fromkeys(players, demand))
    return list(
        chunks("rrps", round_robin(players, repetitions), players, shared=True, demands=known)
    )


@given(st.floats(0.0, 30.0), st.floats(0.0, 700.0), st.integers(2, 40))
def test_a_block_takes_no_more_than_it_may(seconds, mebibytes, count):
    demand = Demand(seconds, mebibytes)
    for chunk in cut_by(demand, players_of(["python"] * count), 2):
        several = demand.times(2.0 * len(chunk.bouts))
        assert len(chunk.bouts) == 1 or several.seconds <= BLOCK_DEMAND.seconds * (1 + 1e-9)
        assert len(chunk.bouts) == 1 or several.mebibytes <= BLOCK_DEMAND.mebibytes * (1 + 1e-9)


def test_light_policies_play_in_wider_blocks_than_heavy_and_unknown_ones():
    players = players_of(["python"] * 16)
    light = cut_by(Demand(0.001, 0.1), players, 20)
    unknown = list(chunks("rrps", round_robin(players, 20), players, shared=True))
    heavy = cut_by(Demand(0.5, 4.0), players, 20)
    widths = [max(len(chunk.bouts) for chunk in cut) for cut in (light, unknown, heavy)]
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert widths[0] > 400 and widths[2] == 40


def test_a_block_that_waits_for_more_is_weighed_anew_when_its_policies_are_known():
    players = players_of(["python"] * 16)
    known = Demands()
    cut = chunks("rrps", round_robin(players, 20), players, shared=True, demands=known)
    first = next(cut)
    known.learn(dict.fromkeys(players, Demand(0.001, 0.1)))
    second = next(cut)
    assert len(first.bouts) < 250 and len(second.bouts) > 900
    known.learn(dict.fromkeys(players, Demand(2.0, 0.1)))
    assert len(next(cut).bouts) < 40


@pytest.mark.parametrize("shared", [True, False])
def test_a_short_schedule_of_long_matches_gives_every_worker_several_blocks(shared):
    players = players_of(["python", "python"])
    for missing, workers in ((24, 2), (30, 2), (100, 4)):
        share = block_share(missing, workers)

        def widths(seconds, share=share, missing=missing):
            known = Demands()
            known.learn(dict.fromkeys(players, Demand(seconds, 1.0)))
            bouts = round_robin(players, missing)
            cut = chunks("rrps", bouts, players, shared=shared, share=share, demands=known)
            return [len(chunk.bouts) for chunk in cut]

        slow, quick = widths(0.7), widths(0.001)
        assert sum(slow) == sum(quick) == missing
        assert len(slow) >= BLOCKS_A_WORKER * workers
        assert max(slow) == max(share, 3), "what takes 4 s is enough"
        assert min(quick[:-1]) >= SMALLEST_BLOCK, "to start processes takes longer than to play"


def test_what_the_engine_plays_itself_takes_no_room_in_a_block():
    players = players_of(["python", *["native"] * 15])
    demand = Demand(1.0, 1.0)
    widest = max(
        len(chunk.bouts) for chunk in cut_by(demand, players, 2) if chunk.route is Route.BOX
    )
    assert widest == 30


def test_blocks_that_are_not_full_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(plan, "MOST_WAITING", 50)
    players = players_of(["python"] * 100)
    bouts = round_robin(players, 1)
    taken = 0

    def stream():
        nonlocal taken
        for bout in bouts:
            taken += 1
            yield bout

    given_out = 0
    for chunk in chunks("rrps", stream(), players, shared=True):
        waiting = taken - given_out
        given_out += len(chunk.bouts)
        assert waiting <= 51 + 1
    assert given_out == len(bouts)
