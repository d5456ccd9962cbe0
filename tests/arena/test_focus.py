"""Which pairs a budget goes to, and that it is shared out to the last deal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analysis.focus import leaderboard_weights, nash_weights, share_out, spreads


@given(
    st.lists(
        st.tuples(st.just(0.0) | st.floats(0.01, 1e3), st.integers(1, 50), st.integers(0, 50)),
        min_size=1,
        max_size=30,
    ),
    st.integers(0, 500),
)
def test_the_whole_budget_is_shared_out_and_no_limit_passed(rows, budget):
    need, deals, room = (np.array(column) for column in zip(*rows, strict=True))
    found = share_out(need.astype(float), deals, deals + room, budget)
    assert (found >= deals).all()
    assert (found <= deals + room).all()
    assert (found - deals).sum() == min(budget, room[need > 0.0].sum())


def test_totals_are_in_proportion_to_need():
    deals = np.full(3, 4)
    found = share_out(np.array([1.0, 2.0, 4.0]), deals, np.full(3, 1_000), 700 - 12)
    assert found.tolist() == [100, 200, 400]


def test_spread_of_equal_deals_is_not_zero():
    found = spreads(np.array([0.0, 5.0]), np.array([4, 4]))
    assert 0.0 < found[0] < found[1]


def table(strength, error):
    """Payoffs of policies by strength, and errors."""
    mean = strength[:, None] - strength[None, :]
    return mean, np.where(np.eye(len(strength)) > 0, 0.0, error)


def test_a_leaderboards_budget_goes_to_the_top_that_is_open():
    strength = np.array([100.0, 99.0, 98.0, 97.0, 96.0, 95.0, -100.0, -200.0, -300.0])
    mean, error = table(strength, 2.0)
    deals = np.full(mean.shape, 8)
    everybody = np.arange(len(mean))
    weights = leaderboard_weights(mean, error, deals, everybody)
    assert (weights == weights.T).all()
    assert (weights.diagonal() == 0.0).all()
    # Each of the top is nobody's but the top's worst opponent, and nobody below can come up.
    assert weights[0, 1] > 2.0 * weights[7, 8]
    assert weights[2, 5] > 2.0 * weights[6, 7]


def test_pairs_outside_the_population_decide_no_score():
    mean, error = table(np.array([3.0, 2.0, 1.0, 0.0]), 1.0)
    weights = leaderboard_weights(mean, error, np.full((4, 4), 8), np.array([2, 3]))
    assert weights[0, 1] == 0.0
    assert weights[0, 2] > 0.0
    assert weights[2, 3] > 0.0


def test_an_equilibriums_budget_goes_to_those_who_may_belong_to_it():
    # Rock, paper, scissors, and two who lose to all of them.
    mean = np.array(
        [
            [0.0, -10.0, 10.0, 50.0, 60.0],
            [10.0, 0.0, -10.0, 50.0, 60.0],
            [-10.0, 10.0, 0.0, 50.0, 60.0],
            [-50.0, -50.0, -50.0, 0.0, 10.0],
            [-60.0, -60.0, -60.0, -10.0, 0.0],
        ]
    )
    error = np.where(np.eye(5) > 0, 0.0, 1.0)
    weights = nash_weights(mean, error)
    assert weights[0, 1] == pytest.approx(weights[1, 2], rel=0.3)
    assert min(weights[0, 1], weights[1, 2], weights[0, 2]) > 2.0 * weights[0, 3]
    assert weights[3, 4] < weights[0, 3]
