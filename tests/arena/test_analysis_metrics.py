"""Metrics: the published ones, the bias that the plain PopExpl has, and what intervals cover."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student_t

from arena.analysis.estimates import (
    Estimate,
    Estimates,
    mean_of,
    minimum_of,
    over_programs,
    student,
    surely_better,
)
from arena.analysis.metrics import (
    agg_score,
    evaluate,
    meetings,
    payoff_intervals,
    pop_expl,
    pop_expl_cross_fitted,
    pop_return,
    population_metrics,
)
from arena.analysis.stakes import Stakes
from arena.payoffs import PayoffTable
from tests.arena.simulated_returns import Played, pair_stats, round_robin

GOLDEN = Path(__file__).parents[1] / "golden"
BOTS = ("aa", "bb", "cc", "dd")


def _read(name: str) -> tuple[list[str], np.ndarray]:
    with (GOLDEN / name).open(newline="") as stream:
        rows = list(csv.reader(stream))
    return [row[0] for row in rows[1:]], np.array([row[1:] for row in rows[1:]], dtype=float)


def test_published_table_gives_the_published_metrics():
    # rrps_published_metrics.csv: the metrics of Lanctot et al. 2023 (arXiv:2303.03196), to two
    # decimals.  Their population includes each bot's match against itself as it was measured.
    bots, payoffs = _read("rrps_cross_table.csv")
    published_bots, published = _read("rrps_published_metrics.csv")
    order = [bots.index(bot) for bot in published_bots]
    unknown = np.full_like(payoffs, np.nan)
    ours = np.column_stack(
        [f(payoffs, unknown, unknown).value for f in (pop_return, pop_expl, agg_score)]
    )[order]
    np.testing.assert_allclose(ours, published, rtol=0, atol=0.0051)
    best = np.argsort(-ours[:, 2])[:3]
    assert [published_bots[place] for place in best] == ["greenberg", "iocainebot", "biopic"]
    greenberg = ours[published_bots.index("greenberg")]
    assert greenberg == pytest.approx([288.15, 3.65, 284.50], abs=0.01)


def test_incomplete_rows_are_unknown_and_say_so():
    stats = pair_stats([Played("aa", "bb", d, 1.0 + d) for d in range(4)])
    table = PayoffTable.from_pair_stats(stats, BOTS[:2])
    met = meetings(table, ["aa", "zz"], BOTS[:3])
    metrics = population_metrics(met)
    assert metrics.complete.tolist() == [False, False]
    for estimates in (metrics.pop_return, metrics.pop_expl, metrics.agg_score):
        assert np.isnan(estimates.value).all()
    evaluation = evaluate(table, "aa", BOTS[:3])
    assert evaluation.missing == ("cc",)
    assert evaluation.pop_return is evaluation.agg_score is evaluation.pop_expl is None
    assert evaluation.per_opponent[1].payoff.value == 2.5
    assert evaluate(table, "zz", ["zz"]).missing == ()


def test_evaluation_counts_oneself_as_zero_and_lists_opponents():
    played = [Played("aa", "bb", d, 10.0) for d in range(4)]
    played += [Played("cc", "aa", d, 4.0 + d, "aa" if d else None) for d in range(4)]
    played += [Played("aa", "aa", d, 500.0) for d in range(4)]
    table = PayoffTable.from_pair_stats(pair_stats(played), BOTS[:3])
    evaluation = evaluate(table, "aa", BOTS[:3])
    assert evaluation.pop_return.value == pytest.approx((0 + 10 - 5.5) / 3)
    assert evaluation.pop_expl.value == 5.5
    assert evaluation.agg_score.value == pytest.approx(4.5 / 3 - 5.5)
    assert evaluation.pop_expl_cross_fitted.value == 5.5
    itself, bb, cc = evaluation.per_opponent
    assert itself.itself
    assert (itself.payoff.value, itself.matches) == (0.0, 0)
    assert (bb.wins, bb.losses, bb.payoff.stderr, bb.payoff.low, bb.payoff.high) == (
        4,
        0,
        0,
        10,
        10,
    )
    assert (cc.forfeits, cc.opponent_forfeits, cc.losses) == (3, 0, 4)
    spread = student_t.ppf(0.975, 3) * cc.payoff.stderr
    assert cc.payoff.high - cc.payoff.value == pytest.approx(spread)
    with pytest.raises(ValueError, match="at least one"):
        evaluate(table, "aa", ())


def test_a_whole_table_has_the_intervals_of_each_pair():
    """Also of pairs that played one deal, the same one again and again, or not at all."""
    matches = [Played("aa", "bb", deal, 3.0 * (-1) ** deal) for deal in range(6)]
    matches += [Played("aa", "cc", deal, 5.0) for deal in range(3)]
    matches += [Played("bb", "cc", 0, 2.0), Played("bb", "dd", 1, 9.0), Played("bb", "dd", 2, 7.0)]
    table, stakes = PayoffTable.from_pair_stats(pair_stats(matches), BOTS), Stakes(10.0, 2.0)
    whole = payoff_intervals(table, stakes)
    for row, bot in enumerate(BOTS):
        for column, one in enumerate(evaluate(table, bot, BOTS, stakes).per_opponent):
            if one.payoff is not None and not one.itself:
                alone = np.array([one.payoff.value, one.payoff.low, one.payoff.high])
                there = [part[row, column] for part in (whole.value, whole.low, whole.high)]
                np.testing.assert_array_equal(alone, there)
    assert np.isnan(whole.low[1, 2]) and np.isnan(whole.low[0, 3])
    assert whole.low[0, 2] < 5.0 < whole.high[0, 2] <= 10.0


def test_pop_return_error_propagates():
    estimates = pop_return(np.array([[1.0, 3.0]]), np.array([[3.0, 4.0]]), np.full((1, 2), 9.0))
    assert estimates[0].value == 2.0
    assert estimates[0].stderr == pytest.approx(2.5)
    freedom = (9 / 4 + 16 / 4) ** 2 / ((9 / 4) ** 2 / 9 + (16 / 4) ** 2 / 9)
    assert estimates[0].high == pytest.approx(2 + 2.5 * student_t.ppf(0.975, freedom))


class _Trials:
    """Many repeated measurements of one policy whose true payoffs are known."""

    def __init__(self, truth: np.ndarray, matches: int, seed: int, trials: int = 3000) -> None:
        rng = np.random.default_rng(seed)
        self.truth = truth
        returns = truth + 26.0 * rng.standard_normal((trials, matches, len(truth)))
        self.whole = self._sums(returns)
        halves = [self._sums(returns[:, half::2]) for half in (0, 1)]
        self.halves = tuple(np.stack(parts) for parts in zip(*halves, strict=True))

    @staticmethod
    def _sums(returns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        matches = returns.shape[1]
        stderr = returns.std(axis=1, ddof=1) / math.sqrt(matches)
        return returns.mean(axis=1), stderr, np.full(stderr.shape, matches - 1.0)


def _coverage(estimates: Estimates, truth: float | np.ndarray) -> float:
    return float(((estimates.low <= truth) & (truth <= estimates.high)).mean())


TIED = np.zeros(43)
APART = np.array([-40.0, *[100.0] * 42])
GRADED = np.linspace(-30.0, 30.0, 43)
FEW = np.array([0.0, 57.0, 63.0])


def test_plain_pop_expl_is_biased_up_and_the_cross_fitted_one_is_not():
    trials = _Trials(TIED, 16, seed=1)
    # Design figure: a policy that draws with everybody shows about 15 with 16 games a bot.
    assert 12 < pop_expl(*trials.whole).value.mean() < 16
    assert agg_score(*trials.whole).value.mean() < -12
    assert abs(pop_expl_cross_fitted(*trials.halves).value.mean()) < 0.5
    graded = _Trials(GRADED, 16, seed=2)
    assert pop_expl(*graded.whole).value.mean() > 30 + 3
    assert 20 < pop_expl_cross_fitted(*graded.halves).value.mean() < 30
    apart = _Trials(APART, 16, seed=3)
    assert pop_expl(*apart.whole).value.mean() == pytest.approx(40, abs=0.5)
    assert pop_expl_cross_fitted(*apart.halves).value.mean() == pytest.approx(40, abs=0.5)


@pytest.mark.parametrize(
    "truth", [TIED, APART, GRADED, FEW], ids=["tied", "apart", "graded", "few"]
)
@pytest.mark.parametrize("matches", [4, 16])
def test_intervals_cover_the_truth(truth, matches):
    trials = _Trials(truth, matches, seed=matches)
    worst = -truth.min()
    assert 0.93 < _coverage(pop_return(*trials.whole), truth.mean()) < 0.97
    assert _coverage(pop_expl(*trials.whole), worst) > 0.935
    assert _coverage(agg_score(*trials.whole), truth.mean() - worst) > 0.935
    named = trials.halves[0][::-1].argmin(axis=2)
    loss = -truth[named].mean(axis=0)
    assert _coverage(pop_expl_cross_fitted(*trials.halves), loss) > 0.90


def test_interval_of_a_worst_opponent_that_stands_apart_is_not_wasteful():
    trials = _Trials(APART, 16, seed=8)
    estimates = pop_expl(*trials.whole)
    assert _coverage(estimates, 40.0) < 0.965
    usual = 2 * student_t.ppf(0.975, 15) * 26 / 4
    assert np.median(estimates.high - estimates.low) == pytest.approx(usual, rel=0.05)


def test_what_is_known_exactly_has_no_width():
    mean, stderr = np.array([[5.0, -2.0, 0.0]]), np.zeros((1, 3))
    freedom = np.array([[np.nan, 7.0, np.inf]])
    for estimates, value in (
        (mean_of(mean, stderr, freedom), 1.0),
        (minimum_of(mean, stderr, freedom), -2.0),
        (agg_score(mean, stderr, freedom), -1.0),
    ):
        one = estimates[0]
        assert (one.value, one.stderr, one.low, one.high) == (value, 0.0, value, value)


def test_an_unknown_error_makes_the_interval_unknown():
    mean, stderr = np.array([[5.0, -2.0]]), np.array([[np.nan, 1.0]])
    freedom = np.array([[0.0, 9.0]])
    for estimates in (pop_return(mean, stderr, freedom), pop_expl(mean, stderr, freedom)):
        assert math.isfinite(estimates[0].value)
        assert math.isnan(estimates[0].low)
        assert math.isnan(estimates[0].high)


def test_intervals_contain_their_estimate():
    rng = np.random.default_rng(4)
    mean, stderr = rng.normal(size=(200, 20)) * 50, rng.exponential(size=(200, 20)) * 20
    for function in (pop_return, pop_expl, agg_score):
        estimates = function(mean, stderr, np.full(mean.shape, 3.0))
        assert (estimates.low <= estimates.value).all()
        assert (estimates.value <= estimates.high).all()


def test_surely_better_needs_more_than_the_noise():
    value, wide = np.array([10.0, 0.0, 6.9]), np.array([3.0, 4.0, 4.0])
    estimates = Estimates(value, wide / 1.96, value - wide, value + wide, np.full(3, 9.0))
    expected = np.zeros((3, 3), dtype=bool)
    expected[0, 1] = expected[2, 1] = True
    assert (surely_better(estimates) == expected).all()


def test_a_round_robin_measures_the_true_metrics():
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(4, 4)) * 40
    truth -= truth.T
    table = PayoffTable.from_pair_stats(pair_stats(round_robin(BOTS, truth, 20.0, 200, rng)), BOTS)
    metrics = population_metrics(meetings(table, BOTS, BOTS))
    np.testing.assert_allclose(metrics.pop_return.value, truth.mean(axis=1), atol=3.0)
    np.testing.assert_allclose(metrics.pop_expl.value, -truth.min(axis=1), atol=6.0)
    assert _coverage(metrics.pop_return, truth.mean(axis=1)) >= 0.75


def test_intervals_over_programs_allow_for_what_errs_in_each_alike():
    trials, covered = _Trials(TIED, 20, seed=9, trials=2000), np.zeros((2, 3))
    for place, (metric, errs) in enumerate(((pop_return, 0), (pop_expl, 1), (agg_score, -1))):
        estimates = metric(*trials.whole)
        for start in range(0, 2000, 5):
            parts = [estimates[row] for row in range(start, start + 5)]
            alone, as_is = over_programs(parts), over_programs(parts, errs)
            covered[:, place] += alone.low <= 0.0 <= alone.high, as_is.low <= 0.0 <= as_is.high
    covered /= 400
    assert covered[0, 0] == covered[1, 0]
    assert 0.93 < covered[0, 0] < 0.99
    assert (covered[0, 1:] < 0.3).all(), "Student's interval does not know of it"
    assert (covered[1, 1:] > 0.95).all()


def test_programs_that_agree_by_luck_are_no_certainty():
    one = Estimate(10.0, 2.0, 6.0, 14.0)
    both = over_programs([one, one])
    assert (both.value, both.stderr) == (10.0, 0.0)
    assert both.high - 10.0 == 10.0 - both.low == pytest.approx(4.0 / math.sqrt(2.0))
    exact = Estimate(10.0, 0.0, 10.0, 10.0)
    assert over_programs([exact, exact]) == exact
    assert over_programs([one], errs=1) == one


def test_quantiles_of_many_are_those_of_each():
    freedom = np.random.default_rng(8).choice([np.nan, 0.5, 1.0, 7.0, 1e12, np.inf], (60, 50))
    each = [[student(one, 0.975) for one in row] for row in freedom]
    np.testing.assert_array_equal(student(freedom, 0.975), np.array(each))
