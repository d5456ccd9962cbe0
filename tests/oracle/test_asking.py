"""The seam that every oracle is asked through: a source is enough, and the account is kept."""

from dataclasses import dataclass
from functools import partial

import pytest

from oracle.asking import ask, best_program, identity
from oracle.attempts import digest_in
from oracle.linear_refinement import LinearRefinement
from oracle.values import Candidate, Failure, OracleExhausted, Rejected, Response, Score
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program

GOOD, BETTER, FAULTY = program(1.0, "a"), program(2.0, "b"), program(9.0, "c", faulty=True)


def answer_of(oracle, stderr=1.0):
    task = a_task()
    return ask(oracle, task, Evaluation(task, stderr))


def test_a_function_that_returns_a_source_is_an_oracle():
    def best_of_three(task, evaluate):
        programs = [GOOD, FAULTY, BETTER]
        return best_program(programs, evaluate(programs))

    answer = answer_of(best_of_three)
    assert (answer.source, answer.score.u) == (BETTER, 2.0)
    task = a_task()
    assert [one.number for one in answer.attempts] == [0, 1, 2]
    assert [one.digest for one in answer.attempts] == [
        digest_in(task, source) for source in (GOOD, FAULTY, BETTER)
    ]
    assert [one.score and one.score.u for one in answer.attempts] == [1.0, None, 2.0]
    assert [one.failure and one.failure.kind for one in answer.attempts] == [
        None,
        Rejected.FAULTY,
        None,
    ]
    assert [one.kept for one in answer.attempts] == [False, False, True]


def test_a_program_that_was_never_scored_is_scored_when_it_is_offered():
    answer = answer_of(lambda task, evaluate: GOOD)
    assert (answer.source, answer.score.u) == (GOOD, 1.0)
    assert [(one.score.u, one.kept) for one in answer.attempts] == [(1.0, True)]


def test_a_program_in_a_response_is_scored_as_well():
    unscored = Score(99.0, 0.0, ())

    def offering(source):
        return lambda task, evaluate: Response(Candidate(source, "", unscored, "", ""), ())

    answer = answer_of(offering(GOOD))
    assert (answer.source, answer.score.u) == (GOOD, 1.0)
    answer = answer_of(offering(FAULTY))
    assert (answer.source, answer.score) == ("", None)
    assert [one.failure.kind for one in answer.attempts] == [Rejected.FAULTY]


def test_what_was_scored_in_part_counts_in_full_and_once():
    class Halving:
        def respond(self, task, evaluate):
            evaluate([GOOD, BETTER], effort=0.25)
            evaluate([BETTER], effort=0.5)
            return BETTER

    answer = answer_of(Halving())
    assert [one.score.against[0].matches for one in answer.attempts] == [16, 64]
    assert answer.score.against[0].matches == 64


def test_nothing_is_offered_in_four_ways():
    def exhausted(task, evaluate):
        evaluate([FAULTY])
        raise OracleExhausted("no more ideas")

    for oracle in (lambda task, evaluate: "", lambda task, evaluate: FAULTY, exhausted):
        answer = answer_of(oracle)
        assert (answer.source, answer.score) == ("", None)
        assert not any(one.kept for one in answer.attempts)
    assert [one.failure.kind for one in answer.attempts] == [Rejected.FAULTY]


def test_the_oracles_of_this_package_answer_with_their_own_account():
    failed = Failure(Rejected.NO_CODE, "no code in the reply")
    oracle = LinearRefinement(ScriptedWriter([failed, program(3.0)]), refinements=1)
    answer = answer_of(oracle)
    assert answer.score.u == 3.0
    assert [one.failure for one in answer.attempts] == [failed, None]  # the first was never scored


def test_mistakes_of_an_author_are_named():
    with pytest.raises(TypeError, match="forgetful answered with NoneType"):
        answer_of(forgetful)
    with pytest.raises(TypeError, match="list"):
        answer_of(lambda task, evaluate: evaluate(GOOD) and GOOD)


def forgetful(task, evaluate):
    evaluate([GOOD])


def test_the_best_program_is_the_first_of_the_best_that_were_scored():
    one, other = Score(1.0, 0.1, ()), Score(-1.0, 0.1, ())
    failure = Failure(Rejected.FAULTY, "crashed")
    assert best_program(["a", "b", "c", "d"], [failure, other, one, one]) == "c"
    assert best_program(["a"], [other]) == "a"
    assert best_program(["a"], [failure]) == best_program([], []) == ""


@dataclass(frozen=True)
class Told:
    shift: int
    helper: object = None

    def respond(self, task, evaluate):
        return GOOD


class Plain:
    def respond(self, task, evaluate):
        return GOOD


class Named(Plain):
    name = "my search"


def test_an_identity_tells_parameters_apart_and_outlives_the_process():
    assert identity(Told(1)) == "Told(shift=1, helper=None)"
    assert identity(Told(1)) != identity(Told(2))
    assert " at 0x" not in identity(Told(1, Plain()))
    assert identity(Told(frozenset("bca"))) == "Told(shift={'a', 'b', 'c'}, helper=None)"
    assert identity(Told("two\nlines")) == "Told(shift='two\\nlines', helper=None)"
    one, two = (partial(forgetful, number=number) for number in (1, 2))
    assert identity(one) != identity(two)
    assert identity(one).endswith("forgetful(number=1)")
    assert identity(Told(1, Plain())) == identity(Told(1, Plain()))
    assert [identity(one) for one in (Plain(), Named(), forgetful)] == [
        "Plain",
        "my search",
        "forgetful",
    ]
    long, other = Told(1, "x" * 500), Told(1, "x" * 499 + "y")
    assert len(identity(long)) <= 160
    assert identity(long) != identity(other)
