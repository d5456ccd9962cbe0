"""ZeroShot: one scored program, never a refinement."""

import pytest

from arena.games import game
from oracle.drafts import Draft
from oracle.grammar_writer import GrammarWriter, attempt_of
from oracle.outcome import Outcome
from oracle.values import Failure, OracleExhausted, Rejected, Task
from oracle.zero_shot import ZeroShot
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, opponents, program

EMPTY = Failure(Rejected.EMPTY, "the reply was empty")


def test_takes_the_first_program_even_if_it_loses():
    task = a_task()
    writer, evaluation = ScriptedWriter([program(-5.0)]), Evaluation(task)
    response = ZeroShot(writer).respond(task, evaluation)
    assert response.best.score.u == -5.0
    assert response.best.call == "k03/a00"
    assert [attempt.kept for attempt in response.attempts] == [True]
    assert len(evaluation.asked) == 1


def test_asks_again_with_the_reason_where_nothing_could_be_scored():
    task = a_task()
    writer = ScriptedWriter([EMPTY, program(1.0, faulty=True), program(2.0)])
    response = ZeroShot(writer).respond(task, Evaluation(task))
    assert response.best.score.u == 2.0
    assert [draft.failure and draft.failure.kind for draft in writer.asked] == [
        None,
        Rejected.EMPTY,
        Rejected.FAULTY,
    ]
    assert writer.asked[2].source == program(1.0, faulty=True)  # what is to be mended
    assert [draft.key for draft in writer.asked] == ["a00", "a01", "a02"]
    assert [attempt.score is None for attempt in response.attempts] == [True, True, False]


def test_a_copy_of_an_opponent_is_no_answer():
    """It would return 0 against a pure meta-strategy and so pass for one that does not lose."""
    task = a_task()
    copy = "# Another comment.\n" + task.opponents[0].source
    writer, evaluation = ScriptedWriter([copy, program(-1.0)]), Evaluation(task)
    response = ZeroShot(writer).respond(task, evaluation)
    assert response.attempts[0].failure.kind is Rejected.DUPLICATE
    assert "csro/run-k00" in response.attempts[0].failure.reason
    assert [sources for sources, _ in evaluation.asked] == [(program(-1.0),)]


def test_gives_up_after_its_tries():
    task = a_task()
    writer = ScriptedWriter([EMPTY] * 9)
    with pytest.raises(OracleExhausted, match=r"k03: none of 3 drafts .*empty") as caught:
        ZeroShot(writer, tries=3).respond(task, Evaluation(task))
    assert [attempt.number for attempt in caught.value.attempts] == [0, 1, 2]
    assert {attempt.failure for attempt in caught.value.attempts} == {EMPTY}
    assert len(writer.asked) == 3
    with pytest.raises(ValueError, match="tries"):
        ZeroShot(writer, tries=0)


def test_a_failure_has_no_return():
    outcome = Outcome(0, Draft("a00"), "", None, EMPTY)
    with pytest.raises(ValueError, match="no score"):
        _ = outcome.u


@pytest.mark.parametrize("name", ["rrps", "leduc"])
def test_the_grammar_writes_the_same_for_the_same_key(name):
    task = Task(game(name), opponents(1.0), "", 3, "k01")
    writer = GrammarWriter()
    drafts = [writer.write(task, Draft(key)) for key in ("a00", "a01", "a02", "a01")]
    assert drafts[1] == drafts[3]
    assert len({draft.source for draft in drafts}) == 3
    assert all(draft.failure is None and draft.call == "" for draft in drafts)


def test_only_a_task_s_first_draft_is_the_grammar_s_first():
    assert attempt_of("a00") == attempt_of("i0g00d0") == 0
    assert 0 not in {attempt_of(key) for key in ("a01", "a00w1", "i1g00d0", "i0g00d1", "i0g10d0")}
