"""Ratings: TrueSkill against the package's own update, Bradley-Terry against its conditions."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis.bradley_terry import ELO, bradley_terry
from arena.analysis.ratings import (
    MAX_MATCHES,
    environment,
    repetitions_to_rate,
    share_to_rate,
    true_skill,
)


def _returns(matches: list[tuple[str, str, float]], *, encode: bool = True) -> pa.Table:
    low, high, value = zip(*matches, strict=True) if matches else ((), (), ())
    sides = [pa.array(side, pa.string()) for side in (low, high)]
    sides = [side.dictionary_encode() if encode else side for side in sides]
    return pa.table(
        {"low": sides[0], "high": sides[1], "return_low": pa.array(value, pa.float64())}
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.integers(-2, 2).map(float)),
        min_size=1,
        max_size=40,
    ),
    st.booleans(),
)
@settings(max_examples=40)
def test_folding_is_the_packages_own_update(matches, encode):
    ours = true_skill(_returns(matches, encode=encode))
    proper = [match for match in matches if match[0] != match[1]]
    draws = sum(value == 0 for *_, value in proper) / len(proper) if proper else 0.0
    env = environment(draws)
    theirs = {name: env.create_rating() for match in matches for name in match[:2]}
    for low, high, value in proper:
        first, second = (low, high) if value >= 0 else (high, low)
        ranks = [0, 0 if value == 0 else 1]
        rated = env.rate([(theirs[first],), (theirs[second],)], ranks)
        (theirs[first],), (theirs[second],) = rated
    assert set(ours) == set(theirs)
    for name, rating in theirs.items():
        assert ours[name].mu == pytest.approx(rating.mu, abs=1e-9)
        assert ours[name].sigma == pytest.approx(rating.sigma, abs=1e-9)


def test_an_entirely_one_sided_history_is_rated():
    ratings = true_skill(_returns([("a", "b", 1.0)] * 20_000 + [("a", "b", -1.0)] * 3))
    assert ratings["a"].mu > ratings["b"].mu
    assert all(math.isfinite(rating.conservative) for rating in ratings.values())
    assert ratings["a"].conservative == ratings["a"].mu - 3 * ratings["a"].sigma


def test_ratings_find_the_order_of_skill():
    rng = np.random.default_rng(1)
    skill = np.linspace(0, 3, 8)
    matches = []
    for _ in range(3000):
        one, other = rng.choice(8, size=2, replace=False)
        won = rng.random() < 1 / (1 + math.exp(skill[other] - skill[one]))
        matches.append((str(one), str(other), 1.0 if won else -1.0))
    ratings = true_skill(_returns(matches))
    found = np.array([ratings[str(player)].mu for player in range(8)])
    assert np.corrcoef(found, skill)[0, 1] > 0.97


def test_draw_margin_turns_narrow_results_into_draws():
    narrow = [("a", "b", 3.0), ("a", "b", 2.0), ("b", "a", -1.0)] * 5
    assert true_skill(_returns(narrow))["a"].mu > 30
    drawn = true_skill(_returns(narrow), draw_margin=3.0)
    assert drawn["a"].mu == pytest.approx(drawn["b"].mu)


def test_nobody_played():
    assert true_skill(_returns([])) == {}


def test_more_precise_normal_distribution_than_the_packages_own():
    env = environment(0.1)
    plain = trueskill.TrueSkill(draw_probability=0.1)
    assert env.cdf(-10.0) == pytest.approx(7.61985302416e-24, rel=1e-9)
    for x in (-2.0, 0.0, 1.5):
        assert env.cdf(x) == pytest.approx(plain.cdf(x), abs=1e-6)
        assert env.pdf(x) == pytest.approx(plain.pdf(x))


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3), st.integers(1, 100))
def test_bound_on_rated_repetitions_is_tight(counts, most):
    square = np.zeros((3, 3), dtype=np.int32)
    square[np.triu_indices(3, 1)] = counts
    square += square.T
    found = repetitions_to_rate(square, most)
    if found is None:
        assert sum(counts) <= most
        return
    assert sum(counts) > most
    rated = [sum(min(count, r) for count in counts) for r in (found, found + 1)]
    assert rated[0] <= most or found == 1
    assert rated[1] > most
    assert repetitions_to_rate(square, MAX_MATCHES) is None


def test_a_share_of_the_matches_is_read_where_there_are_too_many():
    counts = 30 * (1 - np.eye(4, dtype=np.int32))
    assert share_to_rate(counts, None, 400) == 1.0
    assert share_to_rate(counts, 20, 100) == 1.0  # of 120: chance could leave too few in less
    many = 10_000 * (1 - np.eye(4, dtype=np.int32)).astype(np.int32)
    assert share_to_rate(many, 5_000, 10_000) == pytest.approx(10_600 / 30_000)
    assert share_to_rate(np.zeros((0, 0), np.int32), None) == 1.0


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_bradley_terry_meets_the_likelihood_conditions(n, seed):
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 30, size=(n, n)) * (rng.random((n, n)) < 0.5)
    draws = rng.integers(0, 5, size=(n, n))
    draws = np.triu(draws, 1) + np.triu(draws, 1).T
    strength = np.exp(bradley_terry(wins, draws, prior=0.5))
    points = (wins + 0.5 * draws) * (1 - np.eye(n))
    games = points + points.T
    # At the most likely strengths everybody has as many points as expected.
    chance = strength[:, None] / (strength[:, None] + strength[None, :])
    expected = (games * chance).sum(axis=1) + 1.0 * strength / (strength + 1)
    np.testing.assert_allclose(points.sum(axis=1) + 0.5, expected, atol=1e-6)


def test_bradley_terry_of_two_is_the_odds():
    wins = np.array([[0, 10_000_000], [1_000_000, 0]])
    strength = bradley_terry(wins, np.zeros_like(wins))
    assert (strength[0] - strength[1]) * ELO == pytest.approx(400, abs=0.01)


def test_bradley_terry_of_total_dominance_and_of_strangers_is_finite():
    wins = np.triu(np.full((30, 30), 1000), 1)
    strength = bradley_terry(wins, np.zeros_like(wins))
    assert np.isfinite(strength).all()
    assert (np.diff(strength) < 0).all()
    assert bradley_terry(np.zeros((3, 3), int), np.zeros((3, 3), int)).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="prior must be positive"):
        bradley_terry(wins, wins, prior=0.0)
