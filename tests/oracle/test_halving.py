"""Looks at a sample of the hidden opponents, by which drafts are halved."""

import itertools
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.early_stop import EarlyStop, difference
from oracle.values import Against, Opponent, Score
from population.evaluator import sample
from tests.oracle.stated_returns import Evaluation, a_task, program

HIDDEN = tuple(f"h{number:02}" for number in range(26))
WEIGHTS = {"a": 0.1} | dict.fromkeys(HIDDEN, 0.9 / 26)
"""One shown opponent, whose matches differ by chance; the others stand for kinds of players."""


def met(returns, shown=0.0):
    """A score by what was returned to some of the hidden opponents."""
    against = [Against("a", shown, 1.0, 20)]
    against += [Against(digest, mean, 3.0, 2) for digest, mean in returns.items()]
    return Score(0.1 * shown + 0.9 * statistics.fmean(returns.values()), 1.0, tuple(against))


def test_those_who_were_met_stand_for_all():
    rival = met({digest: 100.0 * place for place, digest in enumerate(HIDDEN)}, shown=5.0)
    few = {
        digest: 100.0 * HIDDEN.index(digest) - 7.0 - place
        for place, digest in enumerate(HIDDEN[::4])
    }
    found = difference(met(few, shown=3.0), rival, WEIGHTS, HIDDEN)
    assert found.mean == pytest.approx(0.1 * -2.0 + 0.9 * -10.0)
    gains = statistics.stdev(range(7)) / 7**0.5
    assert found.stderr == pytest.approx(((0.9 * gains) ** 2 + 0.01 * 2.0) ** 0.5)
    assert 6.0 < found.freedom < 7.0
    back = difference(rival, met(few, shown=3.0), WEIGHTS, HIDDEN)
    assert (back.mean, back.stderr) == (pytest.approx(-found.mean), pytest.approx(found.stderr))


def test_one_opponent_or_none_tells_nothing_of_the_others():
    rival = met(dict.fromkeys(HIDDEN, 50.0))
    for few in ({HIDDEN[3]: -900.0}, {}):
        one = Score(0.0, 1.0, tuple(Against(*told, 1.0, 2) for told in few.items()))
        assert not difference(one, rival, WEIGHTS, HIDDEN).surely_negative(0.5)


def test_all_of_them_are_compared_one_by_one():
    """Then no opponent stands for another, and how they differ is no error."""
    one, other = ({digest: gain * place for place, digest in enumerate(HIDDEN)} for gain in (1, 9))
    found = difference(met(one), met(other), WEIGHTS, HIDDEN)
    assert found == difference(met(one), met(other), WEIGHTS)
    assert found.stderr == pytest.approx(((0.9 * 3.0 / 26) ** 2 * 52 + 0.01 * 2.0) ** 0.5)


def test_a_sample_stops_the_better_program_no_more_often_than_the_error_rate():
    """Simulated: opponents differ much, and so does what each program gains from one of them."""
    rng, stopped, of_worse = random.Random(5), 0, 0
    for _ in range(400):
        taste = {digest: rng.gauss(0.0, 200.0) for digest in HIDDEN}
        better = {digest: taste[digest] + rng.gauss(0.5, 20.0) for digest in HIDDEN}
        rival = {digest: taste[digest] + rng.gauss(0.0, 20.0) for digest in HIDDEN}
        better[HIDDEN[0]] += 26 * max(
            0.0, statistics.fmean(rival[one] - better[one] for one in HIDDEN)
        )
        few = sample(HIDDEN, 0.25, rng.randrange(4))
        seen = met({digest: better[digest] for digest in few})
        stopped += difference(seen, met(rival), WEIGHTS, HIDDEN).surely_negative(0.025)
        worse = met({digest: rival[digest] - 40.0 for digest in few})
        of_worse += difference(worse, met(better), WEIGHTS, HIDDEN).surely_negative(0.025)
    assert stopped <= 16  # 0.025 * 400, and two standard deviations
    assert of_worse > 300


@given(st.integers(0, 40), st.integers(0, 2**40), st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_more_effort_meets_all_of_less(number, seed, one, other):
    hidden = [f"h{place}" for place in range(number)]
    less, more = (sample(hidden, effort, seed) for effort in sorted((one, other)))
    assert set(less) <= set(more) <= set(hidden)
    assert len(less) >= min(2, number) and len(set(more)) == len(more)
    assert sample(hidden, 1.0, seed) == hidden
    places = [hidden.index(digest) for digest in sample(hidden, 0.25, seed)]
    assert all(high - low <= 4 for low, high in itertools.pairwise(places))


@pytest.mark.parametrize("seed", range(4))
def test_each_kind_is_met_at_a_quarter(seed):
    """Older, tried, mutants, strangers and credulous players stand one after the other."""
    found = sample(HIDDEN, 0.25, seed)
    assert len(found) == 7
    assert sum(digest >= HIDDEN[10] for digest in found) == 4


def test_the_better_half_goes_on():
    task = a_task()
    evaluation = Evaluation(task, stderr=1000.0)  # nobody is surely behind
    sources = [program(float(u), str(u)) for u in (3, 1, 4, 1.5, 5, 9, 2, 6)]
    found = EarlyStop(halving=True).measure(task, evaluation)(sources)
    assert [(len(asked), effort) for asked, effort in evaluation.asked] == [
        (8, 0.25),
        (4, 0.5),
        (2, 1.0),
    ]
    assert [one.u for one in found if not one.stopped] == [9.0, 6.0]
    evaluation.asked.clear()
    EarlyStop().measure(task, evaluation)(sources)
    assert [len(asked) for asked, _ in evaluation.asked] == [8, 8, 8]


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=12))
def test_the_best_goes_on_to_the_end_where_all_looks_agree(returns):
    task = a_task()
    sources = [program(float(u), str(place)) for place, u in enumerate(returns)]
    found = EarlyStop(halving=True).measure(task, Evaluation(task, stderr=1000.0))(sources)
    assert found[returns.index(max(returns))].against[0].matches == 64
    assert sum(not one.stopped for one in found) <= max(1, (len(returns) + 3) // 4 + 1)


def test_who_met_a_sample_stands_where_the_difference_to_the_best_puts_it():
    """Against easy opponents all return much; who was given up by these is no better for it."""
    hidden = tuple(Opponent(digest, digest, "", 0.0) for digest in HIDDEN)
    task = replace(a_task(1.0), hidden=hidden, hidden_share=0.9)
    (shown, *_) = task.opponents
    worth = {"good": 5.0, "fair": 3.0, "weak": -40.0, "bad": -60.0}

    def evaluate(sources, *, effort=1.0):
        seen = sample(HIDDEN, effort, 0)
        return tuple(score(worth[source], seen) for source in sources)

    def score(gain, seen):
        returns = {one: gain + (900.0 if one in sample(HIDDEN, 0.25, 0) else 0.0) for one in seen}
        against = [Against(digest, mean, 1.0, 2) for digest, mean in returns.items()]
        u = 0.1 * gain + 0.9 * statistics.fmean(returns.values())
        return Score(u, 1.0, (Against(shown.digest, gain, 1.0, 20), *against))

    found = EarlyStop(halving=True).measure(task, evaluate)(list(worth))
    best = found[0]
    assert [one.stopped for one in found] == [False, True, True, True]
    assert [one.u - best.u for one in found] == pytest.approx([0.0, -2.0, -45.0, -65.0])
    assert [len(one.against) for one in found] == [27, 8, 8, 8]
    assert all(1.0 <= one.stderr < 2.0 for one in found)


def test_a_rival_of_more_opponents_leads_by_those_whom_both_met():
    """Its u is of all hidden opponents, the look's of a few: neither is above the other by that."""
    hidden = tuple(Opponent(digest, digest, "", 0.0) for digest in HIDDEN)
    task = replace(a_task(1.0), hidden=hidden, hidden_share=0.9)
    (shown, *_) = (one.digest for one in task.opponents)
    easy = set(HIDDEN[::4])
    rival = met({digest: 40.0 if digest in easy else -400.0 for digest in HIDDEN})
    few = met(dict.fromkeys(sorted(easy), 30.0))
    assert few.u > rival.u
    rename = {"a": shown}

    def as_asked(score):
        return replace(
            score,
            against=tuple(
                replace(one, digest=rename.get(one.digest, one.digest)) for one in score.against
            ),
        )

    efforts = []

    def evaluate(sources, *, effort=1.0):
        efforts.append(effort)
        return tuple(as_asked(few) for _ in sources)

    (found,) = EarlyStop().measure(task, evaluate, as_asked(rival))(["x = 0\n"])
    assert found.stopped and efforts == [0.25]
