"""The evaluation cascade: what is stopped cannot be the best, and the best is not stopped."""

import math
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.early_stop import EarlyStop, difference
from oracle.values import Against, Failure, Rejected, Score
from tests.oracle.stated_returns import Evaluation, a_task, program, score_of

WEIGHTS = {"a": 0.75, "b": 0.25}


def score(mean_a, mean_b, stderr=1.0, matches=20):
    against = (Against("a", mean_a, stderr, matches), Against("b", mean_b, stderr, matches))
    return Score(0.75 * mean_a + 0.25 * mean_b, stderr, against)


def test_differences_are_paired_by_opponent():
    """That one opponent gives 500 more than another is no uncertainty about two programs."""
    found = difference(score(0.0, 500.0), score(5.0, 505.0), WEIGHTS)
    assert found.mean == pytest.approx(-5.0)
    assert found.stderr == pytest.approx(math.sqrt(2 * (0.75**2 + 0.25**2)))
    assert found.surely_negative(0.01)
    assert not difference(score(5.0, 505.0), score(0.0, 500.0), WEIGHTS).surely_negative(0.01)


def dealt(*returns):
    """A score against one opponent, from the mean return in each deal."""
    error = statistics.stdev(returns) / math.sqrt(len(returns))
    mean, deals = statistics.fmean(returns), {(1, n): one for n, one in enumerate(returns)}
    return Score(mean, error, (Against("a", mean, error, 2 * len(returns), deals),))


CARDS = (100.0, -80.0, 40.0, -60.0, 20.0, -20.0)


def test_on_the_same_cards_they_are_paired_by_deal():
    """What the cards give to both is no uncertainty about which is better."""
    more = (10.0, 60.0, 50.0, 30.0, 90.0, 60.0)
    one, other = dealt(*CARDS), dealt(*(x + y for x, y in zip(CARDS, more, strict=True)))
    found = difference(one, other, {"a": 1.0})
    assert (found.mean, found.freedom) == (pytest.approx(-50.0), pytest.approx(5.0))
    assert found.stderr == pytest.approx(statistics.stdev(more) / math.sqrt(6))
    assert found.surely_negative(0.01)
    assert not difference(other, one, {"a": 1.0}).surely_negative(0.5)
    own = [replace(one, against=(replace(one.against[0], deals={}),)) for one in (one, other)]
    assert not difference(*own, {"a": 1.0}).surely_negative(0.01)


def test_a_program_that_has_played_less_is_compared_by_the_deals_that_both_had():
    rival = dealt(10.0, 30.0, 900.0, -900.0)
    found = difference(dealt(0.0, 29.0), rival, {"a": 1.0})
    assert (found.mean, found.freedom) == (pytest.approx(-5.5), pytest.approx(1.0))
    assert found.stderr < 10.0
    alone = Score(8.0, math.nan, (Against("a", 8.0, math.nan, 2, {(1, 0): 8.0}),))
    assert math.isinf(difference(alone, rival, {"a": 1.0}).stderr)
    later = {(2, number): 8.0 for number in range(4)}  # the season was revealed in between
    other = Score(8.0, 1.0, (Against("a", 8.0, 1.0, 8, later),))
    assert difference(other, rival, {"a": 1.0}).mean == pytest.approx(8.0 - rival.u)


def test_trifles_in_most_deals_are_no_certainty():
    """The few in which one wins them back may be still to come."""
    found = difference(dealt(*(x - 1.0 for x in CARDS)), dealt(*CARDS), {"a": 1.0})
    assert found.mean == pytest.approx(-1.0)
    assert found.stderr > statistics.stdev(CARDS) / math.sqrt(6) / 4
    assert not found.surely_negative(0.05)
    same = difference(dealt(*CARDS), dealt(*CARDS), {"a": 1.0})
    assert same.mean == 0.0 and same.stderr > 0.0


def test_equal_programs_are_told_apart_seldom_however_rarely_one_wins_it_back():
    rng, surely, trials = random.Random(3), 0, 400
    for _ in range(trials):
        mine, theirs = [], []
        for name in "abcd":
            cards = [rng.gauss(0.0, 45.0) for _ in range(6)]
            gains = [98.0 if rng.random() < 0.02 else -2.0 for _ in cards]
            for whose, returns in (
                (theirs, cards),
                (mine, map(sum, zip(cards, gains, strict=True))),
            ):
                (against,) = dealt(*returns).against
                whose.append(replace(against, digest=name))
        one, other = Score(0.0, 1.0, tuple(mine)), Score(0.0, 1.0, tuple(theirs))
        surely += difference(one, other, dict.fromkeys("abcd", 1.0)).surely_negative(0.025)
    assert surely / trials < 0.05


def test_few_matches_prove_little():
    few, many = score(0.0, 0.0, matches=4), score(0.0, 0.0, matches=400)
    rival = score(3.0, 3.0, matches=4)
    assert not difference(few, rival, WEIGHTS).surely_negative(0.01)
    assert difference(many, score(3.0, 3.0, matches=400), WEIGHTS).surely_negative(0.01)


def test_without_errors_the_sign_decides_and_unknown_errors_decide_nothing():
    assert difference(score(0.0, 0.0, 0.0), score(0.1, 0.0, 0.0), WEIGHTS).surely_negative(0.05)
    assert not difference(score(0.0, 0.0, 0.0), score(0.0, 0.0, 0.0), WEIGHTS).surely_negative(0.05)
    unknown = difference(score(0.0, 0.0, math.nan), score(900.0, 900.0), WEIGHTS)
    assert math.isinf(unknown.stderr)
    assert not unknown.surely_negative(0.05)


def test_a_program_against_itself_is_even_without_matches():
    mine = Score(2.0, 1.0, (Against("a", 0.0, math.nan, 0), Against("b", 8.0, 1.0, 20)))
    found = difference(mine, score(0.0, 0.0), WEIGHTS)
    assert found.mean == pytest.approx(2.0)
    assert math.isfinite(found.stderr)


def test_hopeless_programs_are_not_played_to_the_end():
    task = a_task()
    evaluation = Evaluation(task, stderr=1.0)
    measure = EarlyStop((0.25, 0.5, 1.0)).measure(task, evaluation, score_of(task, 10.0))
    good, near, bad = program(11.0, "good"), program(7.5, "near"), program(-90.0, "bad")
    faulty = program(0.0, "f", faulty=True)
    found = measure([bad, good, faulty, near])
    assert [sources for sources, _ in evaluation.asked] == [
        (bad, good, faulty, near),
        (good, near),
        (good,),
    ]
    assert found[0].u == -90.0
    assert found[0].against[0].matches == 16  # the score of what was played
    assert found[1].against[0].matches == 64
    assert found[2].kind is Rejected.FAULTY
    assert found[3].against[0].matches == 32


def test_without_a_rival_the_best_of_the_batch_leads():
    task = a_task()
    evaluation = Evaluation(task)
    measure = EarlyStop().measure(task, evaluation)
    measure([program(0.0, "a"), program(50.0, "b")])
    assert [len(sources) for sources, _ in evaluation.asked] == [2, 1, 1]


def test_nothing_is_played_on_where_everything_failed():
    task = a_task()
    evaluation = Evaluation(task)
    (found,) = EarlyStop().measure(task, evaluation)([program(0.0, faulty=True)])
    assert isinstance(found, Failure)
    assert len(evaluation.asked) == 1


def test_the_best_program_is_stopped_no_more_often_than_the_error_rate():
    """Simulated matches: a program better by half a standard error, 400 times."""
    rng = random.Random(11)
    stopped = 0
    for _ in range(400):
        rival, better = _played(rng, 0.0), _played(rng, 1.0)
        stopped += difference(better, rival, WEIGHTS).surely_negative(0.05)
    assert stopped <= 24  # 0.05 * 400, and one standard deviation


def _played(rng, mean):
    against = []
    for name in WEIGHTS:
        returns = [rng.gauss(mean, 10.0) for _ in range(16)]
        stderr = statistics.stdev(returns) / 4.0
        against.append(Against(name, statistics.fmean(returns), stderr, 32))
    u = sum(WEIGHTS[one.digest] * one.mean for one in against)
    return Score(u, 0.0, tuple(against))


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=8), st.none() | st.integers(-30, 30))
def test_the_best_by_full_effort_always_reaches_it_where_scores_agree(returns, rival):
    """Where every stage sees the same means, nothing at or above all others is stopped."""
    task = a_task()
    evaluation = Evaluation(task)
    champion = None if rival is None else score_of(task, float(rival))
    sources = [program(float(u), str(place)) for place, u in enumerate(returns)]
    found = EarlyStop().measure(task, evaluation, champion)(sources)
    assert [one.u for one in found] == [float(u) for u in returns]
    if rival is None or max(returns) >= rival:
        best = found[returns.index(max(returns))]
        assert best.against[0].matches == 64


@pytest.mark.parametrize("efforts", [(), (0.5,), (0.0, 1.0), (0.5, 0.25, 1.0), (0.5, 0.5, 1.0)])
def test_efforts_are_checked(efforts):
    with pytest.raises(ValueError, match="efforts"):
        EarlyStop(efforts)
    with pytest.raises(ValueError, match="error_rate"):
        EarlyStop(error_rate=0.0)
