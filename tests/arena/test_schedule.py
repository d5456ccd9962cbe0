"""The schedule: wanted minus stored, in a fair and stable order."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.protocol import Game
from arena.schedule import Schedule
from arena.store import MatchStore
from arena.values import SELECTING, Match, Result, Termination

GAME = cast(Game, SimpleNamespace(name="toy", version=1, has_deals=True, pack=bytes, unpack=bytes))
DIGESTS = [letter * 64 for letter in "abcd"]
PAIRS = list(itertools.combinations(DIGESTS, 2))


def result(match: Match) -> Result:
    return Result(match, 1, (0.0, 0.0), Termination.COMPLETED, None, "", b"", "inline", 0.001)


def planned(
    store: MatchStore,
    game: Game,
    pairs: Iterable[tuple[str, str]],
    matches: int,
    first: int = 0,
) -> Schedule:
    """The schedule of pairs that all want the same number."""
    (schedule,) = Schedule.by_count(store, game, dict.fromkeys(pairs, matches), first)
    return schedule


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> MatchStore:
    return MatchStore(tmp_path_factory.mktemp("schedule") / "matches.duckdb")


VERSIONS = itertools.count(1)


def fresh_game() -> Game:
    """The same game by other rules: nothing of it is stored yet."""
    return cast(Game, SimpleNamespace(**{**vars(GAME), "version": next(VERSIONS)}))


STORED = st.lists(st.tuples(st.sampled_from(PAIRS), st.integers(0, 9)), max_size=40, unique=True)


@settings(max_examples=25)
@given(stored=STORED, matches=st.integers(0, 9))
def test_wanted_minus_stored_in_a_fair_and_stable_order(
    store: MatchStore, stored: list[tuple[tuple[str, str], int]], matches: int
) -> None:
    game = fresh_game()
    have = [Match("toy", game.version, *pair, repetition) for pair, repetition in stored]
    store.append(game, map(result, have))
    schedule = planned(store, game, PAIRS, matches)
    missing = list(schedule)

    wanted = [
        Match("toy", game.version, *pair, repetition)
        for deal in range(0, matches, 2)
        for pair in PAIRS
        for repetition in range(deal, min(deal + 2, matches))
    ]
    assert missing == [match for match in wanted if match not in set(have)]
    assert schedule.wanted == len(wanted)
    assert len(schedule) == schedule.missing == len(missing)
    assert list(schedule) == missing


@settings(max_examples=25)
@given(
    stored=STORED,
    wanted=st.dictionaries(st.sampled_from(PAIRS), st.integers(0, 9)),
    first=st.sampled_from([0, 2]),
)
def test_pairs_of_different_numbers_are_planned_as_each_number_by_itself(
    store: MatchStore,
    stored: list[tuple[tuple[str, str], int]],
    wanted: dict[tuple[str, str], int],
    first: int,
) -> None:
    game = fresh_game()
    have = [Match("toy", game.version, *pair, repetition) for pair, repetition in stored]
    store.append(game, map(result, have))
    together = Schedule.by_count(store, game, wanted, first)
    apart = [
        planned(store, game, [pair for pair, n in wanted.items() if n == matches], matches, first)
        for matches in sorted(set(wanted.values()))
    ]
    assert [list(one) for one in together] == [list(one) for one in apart]
    assert [one.wanted for one in together] == [one.wanted for one in apart]
    assert [one.missing for one in together] == [one.missing for one in apart]
    assert sum(one.missing for one in together) == sum(len(list(one)) for one in together)


def test_playing_what_is_planned_leaves_nothing_to_play(store: MatchStore) -> None:
    game = fresh_game()
    for matches in (1, 3, 4, 7):
        store.append(game, map(result, planned(store, game, PAIRS, matches)))
        again = planned(store, game, PAIRS, matches)
        assert (again.missing, list(again)) == (0, [])
        assert again.wanted == 6 * matches
    five = itertools.combinations([*DIGESTS, "e" * 64], 2)
    newcomer = planned(store, game, five, 7)
    assert newcomer.missing == 4 * 7
    assert {"e" * 64} == set.intersection(*({match.low, match.high} for match in newcomer))


def test_pairs_keep_their_order_and_count_once(store: MatchStore) -> None:
    a, b, c, _ = DIGESTS
    game = fresh_game()
    schedule = planned(store, game, [(c, a), (b, b), (a, c), (a, b)], 2)
    matches = [(match.low, match.high, match.repetition) for match in schedule]
    assert matches == [(*pair, n) for pair in ((a, c), (b, b), (a, b)) for n in (0, 1)]
    assert schedule.wanted == 6
    store.append(game, [result(Match("toy", game.version, b, b, 1))])
    rest = planned(store, game, [(b, b)], 2)
    assert [(match.low, match.high, match.repetition) for match in rest] == [(b, b, 0)]


@pytest.mark.parametrize("numbers", [(2, 3), (3, 2)])
def test_a_pair_that_is_named_in_both_orders_wants_the_larger_number(
    store: MatchStore, numbers: tuple[int, int]
) -> None:
    a, b, *_ = DIGESTS
    wanted = {(a, b): numbers[0], (b, a): numbers[1]}
    (schedule,) = Schedule.by_count(store, fresh_game(), wanted)
    assert schedule.wanted == schedule.missing == 3
    assert [match.repetition for match in schedule] == [0, 1, 2]


def test_matches_that_choose_among_candidates_are_planned_apart(store: MatchStore) -> None:
    game, pairs = fresh_game(), [tuple(DIGESTS[:2])]
    store.append(game, map(result, planned(store, game, pairs, 2)))
    apart = planned(store, game, pairs, 4, SELECTING)
    assert [match.repetition for match in apart] == [
        SELECTING,
        SELECTING + 1,
        SELECTING + 2,
        SELECTING + 3,
    ]
    assert (apart.wanted, apart.missing) == (4, 4)
    store.append(game, map(result, itertools.islice(apart, 1, 3)))
    rest = planned(store, game, pairs, 4, SELECTING)
    assert [match.repetition for match in rest] == [SELECTING, SELECTING + 3]
    assert rest.missing == 2
    # Neither are the others played again, nor do they stand in for these.
    assert [match.repetition for match in planned(store, game, pairs, 3)] == [2]
    with pytest.raises(ValueError, match="middle of a deal"):
        planned(store, game, pairs, 4, 3)


def test_nobody_to_play(store: MatchStore) -> None:
    assert Schedule.by_count(store, GAME, {}) == []
    assert planned(store, GAME, PAIRS, 0).wanted == 0
    with pytest.raises(ValueError, match="negative"):
        planned(store, GAME, PAIRS, -1)


def test_eight_million_matches_are_planned_in_bounded_memory(tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "matches.duckdb")
    digests = [f"{number:064x}" for number in range(2_000)]
    store.append(GAME, (result(Match("toy", 1, *pair, 0)) for pair in _neighbours(digests)))
    wanted = dict.fromkeys(itertools.combinations(digests, 2), 4)
    tracemalloc.start()
    try:
        (schedule,) = Schedule.by_count(store, GAME, wanted)
        head = list(itertools.islice(schedule, 5))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (schedule.wanted, schedule.missing) == (1_999_000 * 4, 1_999_000 * 4 - 1_999)
    assert [match.repetition for match in head] == [1, 0, 1, 0, 1]
    assert peak < 300 * 2**20
    # Both halves of a duplicate, then the next pair, down to the last.
    assert sum(1 for _ in itertools.islice(schedule, 200_000)) == 200_000


def _neighbours(digests: list[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(digests))
