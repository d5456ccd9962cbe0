"""Mixtures through their members: payoffs, errors, counts, and who plays in their place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Arena
from arena.analysis.stakes import Stakes, doubted
from arena.kinds.mixture import payload_of
from arena.mixing import precision_of_members, through_members, with_mixtures
from arena.pair_sums import PairSums
from arena.payoffs import PayoffTable, Scatter
from registry.values import Submission
from tests.arena.simulated_returns import Played, pair_stats, round_robin

A, B, C, D, MIX = "aa", "bb", "cc", "dd", "ff"


def table_of(matches: list[Played], digests: tuple[str, ...] = (A, B, C, D)) -> PayoffTable:
    return PayoffTable.from_pair_stats(pair_stats(matches), digests)


def random_table(matches: int = 20) -> PayoffTable:
    rng = np.random.default_rng(4)
    payoffs = np.triu(rng.normal(0.0, 20.0, (4, 4)), 1)
    return table_of(round_robin((A, B, C, D), payoffs - payoffs.T, 10.0, matches, rng))


def test_a_mixture_wins_what_its_members_win_by_weight() -> None:
    table = random_table()
    mixed = with_mixtures(table, {MIX: {A: 0.25, B: 0.75}})
    row = mixed.index()[MIX]
    assert mixed.digests == (A, B, C, D, MIX)
    for column in (2, 3):
        expected = 0.25 * table.mean[0, column] + 0.75 * table.mean[1, column]
        error = np.hypot(0.25 * table.stderr[0, column], 0.75 * table.stderr[1, column])
        assert mixed.mean[row, column] == pytest.approx(expected)
        assert mixed.stderr[row, column] == pytest.approx(error)
        # 1 / (0.25^2 / 20 + 0.75^2 / 20) = 32 matches of one policy would be as sure.
        assert mixed.count[row, column] == 32
        assert mixed.half_count[:, row, column].tolist() == [16, 16]
    # A member meets itself with 0, and its other self as it does.
    assert mixed.mean[row, 0] == pytest.approx(0.75 * table.mean[1, 0])
    assert mixed.mean[row, row] == 0.0
    assert np.allclose(mixed.mean, -mixed.mean.T) and np.array_equal(mixed.count, mixed.count.T)
    assert np.array_equal(mixed.mean[:4, :4], table.mean)


def test_a_mixture_of_one_is_that_one() -> None:
    table = random_table()
    mixed = with_mixtures(table, {MIX: {B: 1.0}})
    for name in ("mean", "stderr", "count", "deals", "wins", "draws", "forfeits"):
        array = getattr(mixed, name)
        assert np.allclose(array[4, 2:4], array[1, 2:4]), name
        assert np.allclose(array[2:4, 4], array[2:4, 1]), name
    assert np.allclose(mixed.half_stderr[:, 4, 2:4], table.half_stderr[:, 1, 2:4])


@pytest.mark.parametrize("rare", [0.001, 1e-5])
def test_against_its_own_heavy_member_a_mixture_counts_no_more_than_was_played(rare: float) -> None:
    table = random_table()
    mixed = with_mixtures(table, {MIX: {A: 1.0 - rare, B: rare}})
    # Against A only B's 20 matches say anything; against C those of A say nearly all.
    assert mixed.count[4, :3].tolist() == mixed.count[:3, 4].tolist() == [20, 20, 20]
    assert mixed.half_count[:, 4, 0].tolist() == [10, 10]
    assert mixed.mean[4, 0] == pytest.approx(rare * table.mean[1, 0])
    outcomes = mixed.wins[4] + mixed.draws[4] + mixed.losses[4]
    assert np.array_equal(outcomes, mixed.count[4])
    assert 0 < mixed.deals[4, 0] <= 20


def test_what_a_mixture_played_by_itself_counts_nowhere() -> None:
    matches = [Played(MIX, C, deal, 100.0) for deal in range(8)]
    matches += [Played(A, C, deal, -1.0 - deal % 3) for deal in range(8)]
    table = table_of(matches, (A, B, C, MIX))
    half_met = with_mixtures(table, {MIX: {A: 0.5, B: 0.5}})
    assert np.isnan(half_met.mean[3, 2]) and half_met.count[3, 2] == 0
    assert half_met.wins[3, 2] == half_met.wins[2, 3] == 0
    met = with_mixtures(table, {MIX: {A: 1.0}})
    assert met.mean[3, 2] == table.mean[0, 2] < 0.0


def test_outcomes_add_up_and_no_forfeit_is_rounded_away() -> None:
    matches = [Played(A, C, deal, (5.0, 0.0, -5.0)[deal % 3]) for deal in range(30)]
    matches += [Played(B, C, deal, -5.0, forfeit=B if deal == 0 else None) for deal in range(30)]
    mixed = with_mixtures(table_of(matches, (A, B, C)), {MIX: {A: 0.9, B: 0.1}})
    row, column = 3, 2
    outcomes = [mixed.wins[row, column], mixed.draws[row, column], mixed.losses[row, column]]
    assert sum(outcomes) == mixed.count[row, column] == 36  # 1 / (0.81 / 30 + 0.01 / 30)
    assert min(outcomes) >= 10
    assert mixed.forfeits[row, column] == 1 and mixed.forfeits[column, row] == 0


def test_a_mixture_of_mixtures_follows_from_the_members_of_both() -> None:
    table = random_table()
    both = with_mixtures(table, {"e1": {A: 0.5, B: 0.5}, "e2": {B: 0.5, C: 0.5}})
    mean = table.mean
    # A meets B, A meets C, B meets itself, B meets C.
    expected = 0.25 * (mean[0, 1] + mean[0, 2] + 0.0 + mean[1, 2])
    assert both.mean[4, 5] == pytest.approx(expected)
    assert both.mean[5, 4] == pytest.approx(-expected)


def test_errors_of_mixtures_are_those_that_repetition_shows() -> None:
    rng = np.random.default_rng(5)
    weights = {A: 0.7, B: 0.3}
    truth = np.array([[0.0, 0.0, 12.0], [0.0, 0.0, -8.0], [-12.0, 8.0, 0.0]])
    found = []
    for _ in range(400):
        played = round_robin((A, B, C), truth, 10.0, 6, rng)
        mixed = with_mixtures(table_of(played, (A, B, C)), {MIX: weights})
        found.append((mixed.mean[3, 2], mixed.stderr[3, 2]))
    means, errors = np.array(found).T
    assert means.mean() == pytest.approx(6.0, abs=4 * means.std() / 20)
    assert np.sqrt((errors**2).mean()) == pytest.approx(means.std(), rel=0.15)


def test_the_spread_of_deals_is_of_all_that_is_stored() -> None:
    rng = np.random.default_rng(6)
    stats = pair_stats(round_robin((A, B, C, D), np.zeros((4, 4)), 10.0, 20, rng))
    whole = Scatter.of_pairs(PairSums.of_table(stats).scored())
    assert whole.freedom == 6 * 19
    assert np.sqrt(whole.squares / whole.freedom) == pytest.approx(10.0, rel=0.2)
    table = PayoffTable.from_pair_stats(stats, (A, B, C, D))
    assert table.scatter.squares == pytest.approx(whole.squares)


@given(st.integers(1, 200), st.floats(0.01, 0.99))
def test_members_play_in_the_place_of_a_mixture(count: int, weight: float) -> None:
    mixtures = {MIX: {A: weight, B: 1.0 - weight}}
    wanted = through_members({(MIX, C): count, (MIX, A): count, (C, D): count}, mixtures)
    assert set(wanted) == {(A, C), (B, C), (B, A), (C, D)}
    assert wanted[C, D] == count
    assert all(number <= count for number in wanted.values())
    doubt = weight**2 / wanted[A, C] + (1.0 - weight) ** 2 / wanted[B, C]
    assert 1.0 / doubt >= count - 1e-6


def test_members_are_as_precise_as_their_mixture_needs_them() -> None:
    mixtures = {MIX: {A: 0.64, B: 0.36}}
    found = precision_of_members([(MIX, C), (MIX, A), (C, B)], mixtures, 2.4)
    assert found == pytest.approx({(A, C): 3.0, (B, C): 2.4, (B, A): 4.0})
    errors = {pair: found[pair] for pair in ((A, C), (B, C))} | {(B, C): 4.0}
    assert np.hypot(0.64 * errors[A, C], 0.36 * errors[B, C]) == pytest.approx(2.4)


def test_what_a_mixture_played_by_itself_rates_nobody(arena: Arena) -> None:
    house = arena.policies("kuhn", author="house")
    arena.play("kuhn", 4, only=[one.ref for one in house])
    before = {row.digest: row.trueskill for row in arena.leaderboard("kuhn").rows}
    payload = payload_of({house[0].digest: 0.5, house[1].digest: 0.5})
    mixture = arena.register(Submission("kuhn", "ada/mixed", "mixture", payload), ours=True)
    arena.play_pairs("kuhn", {(mixture.digest, house[2].digest): 10})
    after = {row.digest: row.trueskill for row in arena.leaderboard("kuhn").rows}
    assert after.pop(mixture.digest) is None
    assert after == before
    assert before[house[2].digest] is not None


def test_few_equal_deals_of_a_member_leave_a_mixture_in_doubt() -> None:
    """As much as they leave that member: nothing is known for certain from four of them."""
    rng = np.random.default_rng(5)
    equal = [Played(A, C, deal, 1.0) for deal in range(4)]
    many = [Played(B, C, deal, float(rng.normal(0.0, 10.0))) for deal in range(100)]
    table = table_of([*equal, *many], (A, B, C))
    stakes = Stakes(most=100.0, spread=10.0)
    mixed = with_mixtures(table, {MIX: {A: 0.9, B: 0.1}}, stakes)
    index = mixed.index()
    own = doubted(table.stderr[0, 2:3], table.deals[0, 2:3], table.scatter, stakes)[0]
    assert table.stderr[0, 2] == 0.0 and own > 1.0
    expected = np.hypot(0.9 * own, 0.1 * table.stderr[1, 2])
    assert mixed.stderr[index[MIX], 2] == pytest.approx(expected)
    assert mixed.deals[index[MIX], 2] <= 5  # it rests on those four
    assert np.array_equal(mixed.stderr[:3, :3], table.stderr, equal_nan=True)
