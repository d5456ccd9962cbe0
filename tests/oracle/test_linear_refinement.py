"""LinearRefinement: the rules of Algorithm 1's refinement loop."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.early_stop import EarlyStop
from oracle.grammar.search import GrammarOracle
from oracle.grammar_writer import GrammarWriter
from oracle.linear_refinement import LinearRefinement
from oracle.values import Failure, OracleExhausted, Rejected
from registry import digest_of
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program, score_of

EMPTY = Failure(Rejected.EMPTY, "the reply was empty")


def respond(answers, **options):
    task = a_task()
    writer = ScriptedWriter(answers)
    return LinearRefinement(writer, **options).respond(task, Evaluation(task)), writer


def test_a_program_that_does_not_lose_is_not_refined():
    for u in (0.0, 3.0):
        response, writer = respond([program(u)])
        assert response.best.score.u == u
        assert len(writer.asked) == 1


def test_a_losing_program_is_refined_until_it_does_not_lose():
    response, writer = respond([program(-4.0, "a"), program(-1.0, "b"), program(0.0, "c")])
    assert response.best.score.u == 0.0
    assert [attempt.kept for attempt in response.attempts] == [True, True, True]
    first, second = writer.asked[1:]
    assert first.source == program(-4.0, "a")
    assert first.score.u == -4.0
    assert second.source == program(-1.0, "b")
    assert response.best.parent == digest_of("rrps", "python", program(-1.0, "b"))


def test_with_hidden_opponents_all_revisions_are_made():
    task = replace(a_task(), hidden=a_task().opponents[:1], hidden_share=0.5)
    writer = ScriptedWriter([program(u, str(u)) for u in (5.0, 3.0, 9.0, 4.0)])
    response = LinearRefinement(writer, refinements=3).respond(task, Evaluation(task))
    assert len(writer.asked) == 4
    assert response.best.score.u == 9.0
    assert [draft.score.u for draft in writer.asked[1:]] == [5.0, 5.0, 9.0]


def test_only_what_scores_higher_is_kept():
    response, writer = respond(
        [program(-4.0, "a"), program(-4.0, "b"), program(-6.0, "c"), program(-2.0, "d")],
        refinements=3,
    )
    assert response.best.score.u == -2.0
    assert [attempt.kept for attempt in response.attempts] == [True, False, False, True]
    assert all(draft.source == program(-4.0, "a") for draft in writer.asked[1:])
    shown = [score.u for _, score in writer.asked[3].inspirations]
    assert shown == [-4.0, -6.0]  # the others, best first


def test_at_most_m_revisions():
    response, writer = respond((program(-9.0, str(n)) for n in range(99)), refinements=10)
    assert len(writer.asked) == 11
    assert response.best.score.u == -9.0
    _, writer = respond((program(-9.0, str(n)) for n in range(99)), refinements=0)
    assert len(writer.asked) == 1


def test_failures_count_as_revisions_and_are_fed_back():
    broken = program(50.0, "broken", faulty=True)
    response, writer = respond(
        [EMPTY, broken, program(-3.0, "a"), broken.replace("broken", "b2"), program(1.0, "b")]
    )
    assert response.best.score.u == 1.0
    reasons = [draft.failure and draft.failure.kind for draft in writer.asked]
    assert reasons == [None, Rejected.EMPTY, Rejected.FAULTY, None, Rejected.FAULTY]
    assert writer.asked[2].source == broken  # nothing is sound yet: mend what failed
    assert writer.asked[2].score is None
    assert writer.asked[4].source == program(-3.0, "a")  # go on from what is sound
    assert response.attempts[2].parent == ""  # made from a program that is registered nowhere
    with pytest.raises(OracleExhausted, match="none of 3"):
        respond([EMPTY] * 3, refinements=2)


def test_the_same_program_again_is_a_failure_not_a_score():
    response, _ = respond([program(-4.0, "a"), "# again\n" + program(-4.0, "a"), program(1.0)])
    assert [attempt.failure and attempt.failure.kind for attempt in response.attempts] == [
        None,
        Rejected.DUPLICATE,
        None,
    ]


@given(st.lists(st.none() | st.integers(-5, 2), min_size=1, max_size=8), st.integers(0, 7))
def test_what_is_kept_rises_and_it_ends_in_time(returns, refinements):
    """For any sequence of returns and failures: the rules of section 2.4.2."""
    answers = [
        EMPTY if u is None else program(float(u), str(place)) for place, u in enumerate(returns)
    ] + [EMPTY] * 20
    task = a_task()
    oracle = LinearRefinement(ScriptedWriter(answers), refinements=refinements)
    try:
        response = oracle.respond(task, Evaluation(task))
    except OracleExhausted:
        assert all(u is None for u in returns[: refinements + 1])
        return
    kept = [attempt.score.u for attempt in response.attempts if attempt.kept]
    assert kept == sorted(set(kept))
    assert kept[-1] == response.best.score.u
    assert all(u < 0 for u in kept[:-1])
    assert len(response.attempts) <= refinements + 1
    assert response.best.score.u >= 0 or len(response.attempts) == refinements + 1


def test_a_wider_step_scores_its_drafts_together():
    task = a_task()
    writer = ScriptedWriter(lambda draft: program(-float(len(draft.key)), draft.key))
    evaluation = Evaluation(task)
    response = LinearRefinement(writer, refinements=1, width=3).respond(task, evaluation)
    assert [len(sources) for sources, _ in evaluation.asked] == [3, 3]
    assert [draft.key for draft in writer.asked[3:]] == ["a01", "a01w1", "a01w2"]
    assert response.best.score.u == -3.0


def test_the_grammar_gets_returns_in_the_order_of_the_opponents():
    task = a_task(0.5, 0.3, 0.2)
    seen = []

    class Watched(GrammarOracle):
        def refine(self, question, current, tried=(), attempt=0):
            seen.append((current.returns, len(tried)))
            return super().refine(question, current, tried, attempt)

    def evaluate(sources, *, effort=1.0):
        scores = []
        for number, _ in enumerate(sources):
            score = score_of(task, -1.0 - number)
            against = tuple(
                type(one)(one.digest, -10.0 * place, 1.0, 8)
                for place, one in reversed(list(enumerate(score.against)))
            )
            scores.append(type(score)(score.u, score.stderr, against))
        return tuple(scores)

    writer = GrammarWriter(Watched())
    oracle = LinearRefinement(writer, refinements=2, width=2)
    response = oracle.respond(task, evaluate)
    assert seen[0] == ((0.0, -10.0, -20.0), 1)
    assert len(response.attempts) == 6
    assert response == oracle.respond(task, evaluate)


def test_options_are_checked():
    for options in ({"refinements": -1}, {"width": 0}, {"workers": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            LinearRefinement(GrammarWriter(), **options)


def test_a_step_that_cannot_be_better_is_played_less_and_does_not_replace_the_program():
    task = a_task()
    answers = [program(-9.0, "a"), program(-80.0, "b"), program(-1.0, "c"), program(-70.0, "d")]
    oracle = LinearRefinement(ScriptedWriter(answers), refinements=3, early_stop=EarlyStop())
    response = oracle.respond(task, Evaluation(task, stderr=1.0))
    assert [attempt.kept for attempt in response.attempts] == [True, False, True, False]
    assert [one.score.against[0].matches for one in response.attempts] == [64, 16, 64, 16]
    assert response.best.score.u == -1.0
