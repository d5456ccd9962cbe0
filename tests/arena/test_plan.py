"""Jobs hold every match once, by the route that its players need, within the block's bounds."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from arena.plan import (
    BLOCK_MATCHES,
    INSTANCES_PER_WORKER,
    ISOLATED_BATCH,
    Player,
    Route,
    jobs,
    route_of,
)
from arena.values import Match


def players_of(kinds):
    return {f"{i:04x}": Player(f"{i:04x}", kind, f"payload {i}") for i, kind in enumerate(kinds)}


def round_robin(players, repetitions):
    return [
        Match("rrps", 1, low, high, repetition)
        for repetition in range(repetitions)
        for low, high in combinations(sorted(players), 2)
    ]


def as_they_are(digest, seed):
    return digest


@given(
    st.lists(st.sampled_from(["native", "tabular", "python"]), min_size=2, max_size=40),
    st.integers(1, 4),
    st.booleans(),
)
def test_every_match_is_in_one_job_by_the_right_route(kinds, repetitions, isolate):
    players = players_of(kinds)
    matches = round_robin(players, repetitions)
    cut = list(jobs("rrps", iter(matches), players, as_they_are, isolate=isolate))
    played = [bout.match for job in cut for bout in job.bouts]
    assert Counter(played) == Counter(matches)
    for job in cut:
        assert job.bouts
        assert set(job.players) == {d for bout in job.bouts for d in bout.players}
        for bout in job.bouts:
            assert bout.players == bout.match.seats
            one, other = (players[d].kind for d in bout.players)
            assert job.route is route_of((one, other))
        if job.route is Route.BOX:
            assert len(job.bouts) <= (ISOLATED_BATCH if isolate else BLOCK_MATCHES)
            load = Counter(d for bout in job.bouts for d in bout.players)
            assert max(load.values()) <= INSTANCES_PER_WORKER + 1
            assert job.isolate is isolate


def test_a_mixture_plays_as_the_member_it_drew():
    players = players_of(["python", "native", "native"])
    match = Match("rrps", 1, "0000", "0001", 0)

    def resolve(digest, seed):
        return "0002" if digest == "0000" else digest

    (job,) = jobs("rrps", [match], players, resolve)
    assert job.route is Route.NATIVE
    assert job.bouts[0].players == ("0002", "0001")
    assert job.bouts[0].match == match


def test_routes():
    assert route_of(("native", "native")) is Route.NATIVE
    assert route_of(("native", "tabular")) is Route.INLINE
    assert route_of(("tabular", "tabular")) is Route.INLINE
    assert route_of(("python", "native")) is Route.BOX
