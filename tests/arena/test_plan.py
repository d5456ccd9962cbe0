"""Jobs hold every match once, by the route that its players need, within the block's bounds."""

from collections import Counter
from datetime import UTC, datetime
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from arena.plan import (
    BLOCK_MATCHES,
    INSTANCES_PER_WORKER,
    ISOLATED_BATCH,
    Player,
    Route,
    bout_of,
    jobs,
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
def test_every_match_is_in_one_job_by_the_right_route(kinds, repetitions, shared):
    players = players_of(kinds)
    bouts = round_robin(players, repetitions)
    cut = list(jobs("rrps", iter(bouts), players, shared=shared))
    assert Counter(bout for job in cut for bout in job.bouts) == Counter(bouts)
    for job in cut:
        assert job.bouts
        assert set(job.players) == {d for bout in job.bouts for d in bout.players}
        for bout in job.bouts:
            assert bout.players == bout.match.seats
            one, other = (players[d].kind for d in bout.players)
            assert job.route is route_of((one, other))
        if job.route is Route.BOX:
            assert len(job.bouts) <= (BLOCK_MATCHES if shared else ISOLATED_BATCH)
            load = Counter(d for bout in job.bouts for d in bout.players)
            assert max(load.values()) <= INSTANCES_PER_WORKER + 1
            assert job.shared is shared


def test_who_is_asked_is_asked_for_so_many_matches_at_once():
    players = players_of(["llm", "llm", "native", "tabular", "native"])
    cut = list(jobs("rrps", round_robin(players, 2), players, block_matches=6))
    asked = [len(job.bouts) for job in cut if job.route is Route.ASKED]
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
    (job,) = jobs("rrps", [bout], players)
    assert job.route is Route.NATIVE
    assert job.bouts[0].players == ("0002", "0001")
    assert job.bouts[0].match == match
    assert not set(asked) & set(bout.seat_seeds), "a member's stream does not tell the draw"


def test_routes():
    assert route_of(("native", "native")) is Route.NATIVE
    assert route_of(("native", "tabular")) is Route.INLINE
    assert route_of(("tabular", "tabular")) is Route.INLINE
    assert route_of(("python", "native")) is Route.BOX
