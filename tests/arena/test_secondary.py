"""Secondary columns: their intervals hold what they are of."""

from dataclasses import astuple

import numpy as np
import pytest

from arena.analysis.bradley_terry import bradley_terry, errors_of
from arena.analysis.estimates import Estimate
from arena.analysis.meta_strategy import SOLVERS
from arena.analysis.secondary import secondary
from arena.analysis.stakes import UNKNOWN, Stakes
from arena.payoffs import PayoffTable
from tests.arena.simulated_returns import Played, pair_stats

CYCLE = np.array([[0.0, 6.0, -3.0], [-6.0, 0.0, 9.0], [3.0, -9.0, 0.0]])
NAMES = ("aa", "bb", "cc")


def measured(truth, names, deals, spread, rng):
    """A payoff table over so many deals of each pair."""
    played = [
        Played(low, high, deal, truth[row, column] + spread * rng.standard_normal())
        for row, low in enumerate(names)
        for column, high in enumerate(names)
        if row < column
        for deal in range(deals)
    ]
    return PayoffTable.from_pair_stats(pair_stats(played), names)


def test_intervals_of_bradley_terry_hold_the_strengths():
    rng = np.random.default_rng(3)
    strength = np.array([1.0, 0.4, 0.0, -0.4, -1.0])
    chance = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    inside = []
    for _ in range(200):
        upper = np.triu(rng.binomial(30, chance), 1)
        wins = upper + np.tril(30 - upper.T, -1)
        found = bradley_terry(wins, np.zeros_like(wins), prior=0.01)
        reach = 1.96 * errors_of(wins, np.zeros_like(wins), found, prior=0.01)
        inside.append(np.abs((found - found.mean()) - strength) <= reach)
    assert 0.93 < np.mean(inside) < 0.97


def test_an_interval_of_two_is_that_of_the_odds():
    wins = np.array([[0, 30], [10, 0]])
    error = errors_of(
        wins, np.zeros_like(wins), bradley_terry(wins, 0 * wins, prior=1e-6), prior=1e-6
    )
    # Half the difference of two log-strengths, whose error is that of the logarithm of the odds.
    assert error == pytest.approx(np.sqrt(1 / 30 + 1 / 10) / 2, rel=1e-3)


@pytest.mark.parametrize("column", ["nash_mass", "alpha_rank"])
def test_intervals_of_shares_hold_the_share(column):
    rng = np.random.default_rng(4)
    solver = SOLVERS["lp" if column == "nash_mass" else "alpha-rank"]
    true = solver(CYCLE, np.zeros((3, 3))).weights
    inside = []
    for _ in range(25):
        rows = secondary(measured(CYCLE, NAMES, 12, 4.0, rng), NAMES, UNKNOWN)
        found = [rows[name][column] for name in NAMES]
        assert all(0.0 <= one.low <= one.value <= one.high <= 1.0 for one in found)
        inside.append(
            [one.low <= share <= one.high for one, share in zip(found, true, strict=True)]
        )
    assert np.mean(inside) >= 0.93


def test_the_same_table_has_the_same_intervals_and_more_deals_narrower_ones():
    few = measured(CYCLE, NAMES, 8, 4.0, np.random.default_rng(5))
    many = measured(CYCLE, NAMES, 800, 4.0, np.random.default_rng(5))
    once, again = (secondary(few, NAMES, UNKNOWN) for _ in range(2))
    assert once == again
    # Pages sort by name, the command line by when policies came.
    for names in (NAMES[::-1], ("bb", "aa", "cc")):
        told = secondary(few.restrict(names), names, UNKNOWN)
        for name, columns in once.items():
            for column, found in columns.items():
                other = told[name][column]
                assert astuple(other) == pytest.approx(astuple(found), nan_ok=True)
    for column in ("bradley_terry", "nash_mass"):
        width = {
            deals: np.mean([rows[name][column].high - rows[name][column].low for name in NAMES])
            for deals, rows in ((8, once), (800, secondary(many, NAMES, UNKNOWN)))
        }
        assert width[800] < width[8] / 3


def test_what_one_deal_says_has_no_interval_and_equal_deals_have_one():
    single = secondary(measured(CYCLE, NAMES, 1, 4.0, np.random.default_rng(6)), NAMES, UNKNOWN)
    assert all(np.isnan(rows["nash_mass"].low) for rows in single.values())
    equal = secondary(
        measured(CYCLE, NAMES, 3, 0.0, np.random.default_rng(6)), NAMES, Stakes(20.0, 5.0)
    )
    # Deals that were all alike may have been luck.
    assert all(rows["nash_mass"].low < rows["nash_mass"].high for rows in equal.values())
    one = secondary(
        measured(CYCLE, NAMES[:1], 3, 1.0, np.random.default_rng(6)), NAMES[:1], UNKNOWN
    )
    assert one["aa"]["bradley_terry"] == Estimate(0.0, 0.0, 0.0, 0.0)
    assert one["aa"]["nash_mass"].value == 1.0
