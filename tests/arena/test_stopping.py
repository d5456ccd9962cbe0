"""The rule that says when a pair has played enough."""

import numpy as np
import pytest

from arena.analysis.estimates import around, freedom_of
from arena.analysis.stakes import UNKNOWN, Stakes
from arena.analysis.stopping import FIRST_LOOK, floored, looks


@pytest.mark.parametrize("most", [1, 2, 7, 8, 9, 100, 12_345])
def test_looks_go_up_and_end_where_the_share_is_spent(most):
    found = list(looks(most))
    assert found[-1] == most
    assert found == sorted(set(found))
    assert found[0] == min(FIRST_LOOK, most)


def test_there_are_few_looks():
    assert len(list(looks(10_000))) < 20


def test_equal_deals_are_no_certainty_and_unknown_errors_are_not_small():
    stakes = Stakes(most=200.0, spread=32.0)
    deals = np.array([4, 16, 1])
    assert floored(np.array([0.0, 0.0, np.nan]), deals, stakes).tolist() == [8.0, 2.0, np.inf]
    # Barely any spread in four deals: what the stakes assume counts as one deal of them.
    assert floored(np.array([1e-9]), np.array([4]), stakes) == pytest.approx([4.0])
    assert floored(np.array([10.0]), np.array([100]), stakes).tolist() == [10.0]


@pytest.mark.parametrize("needed", [4, 12, 40])
def test_of_normal_deals_the_mean_is_unbiased_and_the_interval_holds(needed):
    rng = np.random.default_rng(needed)
    precision, rows = 1.0 / np.sqrt(needed), 6_000
    deals = rng.standard_normal((rows, 200))
    ended = np.full((3, rows), np.nan)
    for n in looks(200):
        mean, error = deals[:, :n].mean(axis=1), deals[:, :n].std(axis=1, ddof=1) / np.sqrt(n)
        counts = np.full(rows, n)
        now = np.isnan(ended[2]) & ((floored(error, counts, UNKNOWN) <= precision) | (n == 200))
        ended[:, now] = np.stack([mean, error, counts])[:, now]
    mean, error, counts = ended
    assert abs(mean.mean()) < 4.0 * mean.std() / np.sqrt(rows)
    found = around(mean, error, freedom_of(counts.astype(int)))
    assert ((found.low <= 0.0) & (found.high >= 0.0)).mean() > 0.92
    assert counts.mean() < 1.4 * max(needed, FIRST_LOOK)
    assert (error <= precision).mean() > 0.99
