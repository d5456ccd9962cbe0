"""What a process keeps of the pairs is what a fresh reading finds, whatever was stored since."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.games.protocol import Game
from arena.pair_sums import PairScores
from arena.payoffs import Scatter
from arena.store import MatchStore
from arena.values import SELECTING
from tests.arena.pennies import game, match, result

GAME, OTHER = game(), game(name="other pennies")
BATCHES = st.lists(
    st.tuples(
        st.sampled_from([GAME, GAME, OTHER]),
        st.sets(
            st.tuples(
                st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 2)]),
                st.integers(0, 5) | st.just(SELECTING),
            ),
            min_size=1,
            max_size=6,
        ),
    ),
    min_size=2,
    max_size=5,
)
"""Games, and pairs and repetitions that were played."""


def opened(path: Path) -> MatchStore:
    return MatchStore(path, game_named=lambda name: game(name=name))


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    return opened(tmp_path / "matches.duckdb")


def assert_same(ours: PairScores, theirs: PairScores) -> None:
    assert ours.digests == theirs.digests
    for end in ("low", "high"):
        np.testing.assert_array_equal(getattr(ours, end), getattr(theirs, end))
    assert ours.values.keys() == theirs.values.keys()
    for name, values in theirs.values.items():
        assert ours.values[name].dtype == values.dtype
        np.testing.assert_array_equal(ours.values[name], values)
    assert Scatter.of_pairs(ours) == Scatter.of_pairs(theirs)


def assert_as_read_anew(store: MatchStore) -> None:
    fresh = opened(store.path)
    assert_same(store.pair_scores("pennies", 1), fresh.pair_scores("pennies", 1))
    assert store.returns_in_id_order("pennies", 1).equals(fresh.returns_in_id_order("pennies", 1))


def play(store: MatchStore, played: Game, *matches: tuple[tuple[int, int], int]) -> None:
    returns = [float(a + 2 * b + repetition % 5 - 3) for (a, b), repetition in matches]
    listed = [match(a, b, repetition, played) for (a, b), repetition in matches]
    store.append(played, map(result, listed, returns))


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(batches=BATCHES)
def test_what_others_store_is_taken_in(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[Game, set[tuple[tuple[int, int], int]]]],
) -> None:
    store = opened(tmp_path_factory.mktemp("store") / "matches.duckdb")
    assert_as_read_anew(store)
    for played, matches in batches:
        play(opened(store.path), played, *matches)
        assert_as_read_anew(store)


def test_what_was_handed_out_stays_as_it_is(store: MatchStore) -> None:
    play(store, GAME, ((0, 1), 0), ((0, 2), 0))
    before = store.pair_scores("pennies", 1)
    means = before.values["mean"].copy()
    play(store, OTHER, ((0, 1), 0))
    assert store.pair_scores("pennies", 1) is before  # nothing of this game was played
    play(store, GAME, ((0, 1), 1), ((0, 1), SELECTING), ((1, 2), 0))
    after = store.pair_scores("pennies", 1)
    np.testing.assert_array_equal(before.values["mean"], means)
    assert len(after.low) == len(means) + 1
    assert_as_read_anew(store)


def test_an_older_copy_that_went_another_way_is_read_anew(
    store: MatchStore, tmp_path: Path
) -> None:
    play(store, GAME, ((0, 1), 0))
    (copy,) = store.copied(tmp_path / "copy.duckdb")[:1]
    play(store, GAME, ((0, 1), 1), ((0, 2), 0))
    store.pair_scores("pennies", 1)
    shutil.copyfile(copy, store.path)  # into the same file: the system tells of no exchange
    assert_as_read_anew(store)
    for matches in ([((0, 1), 2)], [((0, 1), 3), ((1, 2), 0), ((1, 2), 1)]):
        play(opened(store.path), GAME, *matches)
    assert_as_read_anew(store)


def test_the_same_matches_stored_once_more_are_another_store(
    store: MatchStore, tmp_path: Path
) -> None:
    play(store, GAME, ((0, 1), 0), ((0, 2), 0))
    before = store.pair_scores("pennies", 1)
    other = opened(tmp_path / "other.duckdb")
    play(other, GAME, ((0, 1), 0), ((0, 2), 0))
    shutil.copyfile(other.path, store.path)
    assert store.pair_scores("pennies", 1) is not before
    assert_as_read_anew(store)
