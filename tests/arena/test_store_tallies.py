"""Whatever batches come in, their first results and exact tallies are what the store has."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from arena.store import MatchStore, Sharing
from arena.values import SELECTING, Match, Result
from tests.arena.pennies import POLICIES, game, match, recomputed, result, stored_tallies
from tests.arena.simulated_returns import same_table


def recomputed_sharing(results: Iterable[Result]) -> dict[str, Sharing]:
    """How matches were isolated, by definition."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in results:
        for digest in set(one.match.seats):
            sums[digest][0] += one.wall.startswith("process")
            sums[digest][1] += one.wall.endswith("+lockstep")
            sums[digest][2] += one.playings > 1
    return {digest: Sharing(*counts) for digest, counts in sums.items()}


BATCHES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 2)]),
            st.integers(0, 7) | st.integers(SELECTING, SELECTING + 3),
            st.integers(-3, 3),
            st.sampled_from([None, None, 0, 1]),
            st.integers(0, 50),
            st.sampled_from(["native", "process/1", "process/1+lockstep"]),
            st.integers(1, 2),
        ),
        max_size=9,
    ),
    min_size=1,
    max_size=4,
)


NAMES = (f"game {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> MatchStore:
    """One store for all examples; each plays a game of its own name, which says if it has deals."""
    path = tmp_path_factory.mktemp("store") / "matches.duckdb"
    return MatchStore(path, game_named=lambda name: game(name=name, has_deals="deals" in name))


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(batches=BATCHES, has_deals=st.booleans())
def test_any_batches_leave_exactly_their_first_results_and_exact_tallies(
    shared: MatchStore, batches: list[list[Any]], has_deals: bool
) -> None:
    name = next(NAMES) + " with deals" * has_deals
    played = game(name=name, has_deals=has_deals)
    kept: dict[str, Result] = {}
    before = shared.fingerprint(played.name, 1)
    for batch in batches:
        results = [
            result(
                match(a, b, repetition, played),
                total,
                fault_seat=fault,
                millis=millis,
                wall=wall,
                season=repetition,
                playings=playings,
            )
            for (a, b), repetition, total, fault, millis, wall, playings in batch
        ]
        new = {one.match.id for one in results} - kept.keys()
        assert shared.append(played, results) == len(new)
        after = shared.fingerprint(played.name, 1)
        assert (after != before) == bool(new)
        before = after
        for one in results:
            kept.setdefault(one.match.id, one)

    counting = [one for one in kept.values() if one.match.repetition < SELECTING]
    assert stored_tallies(shared, played) == recomputed(has_deals, counting)
    quick, plain = shared.pair_scores(played.name, 1), shared.pair_stats(played.name, 1)
    same_table(
        PayoffTable.from_pair_scores(quick, POLICIES), PayoffTable.from_pair_stats(plain, POLICIES)
    )
    assert shared.returns_in_id_order(played.name, 1).num_rows == len(counting)
    assert shared.sharing(played.name, 1) == recomputed_sharing(kept.values())
    rows = shared.matches(played.name, 1)
    assert {row.id: row.returns for row in rows} == {k: one.returns for k, one in kept.items()}
    assert len(rows) == len(kept)
    for one in itertools.islice(kept.values(), 3):
        assert shared.get(one.match.id) == one
    ordered = [kept[key] for key in sorted(kept)]
    assert shared.returns_in_id_order(played.name, 1, 4).to_pylist() == [
        {"low": one.match.low, "high": one.match.high, "return_low": one.return_low}
        for one in ordered
        if one.match.repetition <= 4
    ]
    _check_repetitions(shared, played, [one.match for one in kept.values()])
    counted = [count for count in shared.counts() if count.game == played.name]
    if kept:
        (count,) = counted
        counting = [one for one in kept.values() if one.match.repetition < SELECTING]
        assert count.matches == len(counting)
        assert count.forfeits == sum(one.fault_seat is not None for one in counting)
        told = shared.matches(played.name, 1, selecting=False)
        assert {row.id for row in told} == {one.match.id for one in counting}
        for digest in POLICIES:
            own = [one for one in counting if digest in one.match.seats]
            costs = shared.costs(played.name, 1, digest)
            assert costs.matches == len(own)


def _check_repetitions(store: MatchStore, played: Game, kept: list[Match]) -> None:
    spans = ((8, POLICIES, 0), (3, POLICIES, 0), (5, POLICIES[:2], 0), (5, POLICIES, 2))
    for count, digests, first in (*spans, (3, POLICIES, SELECTING), (2, POLICIES[1:], SELECTING)):
        stored = store.repetitions(played.name, 1, digests, count, first)
        found = {
            (stored.digests[low], stored.digests[high], first + repetition)
            for low, high, prefix in zip(stored.low, stored.high, stored.prefix, strict=True)
            for repetition in {*range(prefix), *stored.scattered.get((low, high), ())}
        }
        assert found == {
            (one.low, one.high, one.repetition)
            for one in kept
            if first <= one.repetition < first + count and {one.low, one.high} <= set(digests)
        }
