"""What is asked again says what was wrong with the answer, in shorter forms or in other words."""

import pytest

from oracle.context import Filter, OpponentInput, View
from oracle.drafts import Draft
from oracle.prompt import Prompt, compose, repair, reworded
from oracle.values import Failure, Rejected
from oracle.writer import WriterOptions, preview
from tests.oracle.stated_returns import a_task

ALL = WriterOptions(shown=Filter())


def test_a_repair_has_shorter_forms_too():
    task = a_task(0.6, 0.4)
    first = preview(task, Draft("a00"), ALL)
    again = repair(first, "x" * 20_000, Failure(Rejected.NO_CODE, "no code"))
    assert "x" * 20_000 in again.text
    assert len(again.shorter) == len(first.shorter) + 1
    assert all("no code" in form and "x" * 4_001 not in form for form in again.shorter)
    assert again.shorter[0].startswith(first.text)
    short = repair(first, "x", Failure(Rejected.NO_CODE, "no code"))
    assert len(short.shorter) == len(first.shorter)


def test_a_refused_question_is_asked_in_other_words():
    task = a_task(0.6, 0.4)
    first = preview(task, Draft("a00"), ALL)
    again = reworded(first, Failure(Rejected.BLOCKED, "SAFETY"))
    assert "an exercise in game theory" in again.text
    assert "it was withheld" in again.text
    assert "'opponent0'" in again.text


@pytest.mark.parametrize("form", [OpponentInput.CODE, OpponentInput.DESCRIPTION])
def test_what_was_refused_twice_is_asked_with_the_least_and_says_why(form):
    """It is not for lack of room that nobody is shown."""
    task = a_task(0.6, 0.4)
    texts = {one.digest: one.source for one in task.opponents}
    view = View(form, Filter().apply(task.opponents), texts)
    least = compose(task, Draft("a00"), view, variation=2, least=True)
    assert least.shorter == ()
    assert "'opponent0'" not in least.text
    for said in ("None is shown,", "(Left out above"):
        assert f"{said} because an earlier form of this question got no answer" in flat(least.text)
    assert "lack of room" not in least.text
    *_, short = compose(task, Draft("a00"), view, variation=2).shorter
    assert short == least.text.replace(
        "because an earlier form of this question got no answer", "for lack of room"
    )


def test_one_opponent_that_is_left_out_is_spoken_of_as_one():
    (*_, short) = preview(a_task(1.0), Draft("a00"), ALL).shorter
    assert "(Left out above for lack of room: the opponent.)" in short
    one = WriterOptions(shown=Filter(top_k=1))
    (*_, short) = preview(a_task(0.6, 0.4), Draft("a00"), one).shorter
    assert "(Left out above for lack of room: the heaviest opponent.)" in short


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("kind", list(Rejected))
def test_a_repair_repeats_the_question_with_reply_and_reason(kind):
    first = Prompt("role", "question\n")
    again = repair(first, "my ```python\nreply```", Failure(kind, "line 3: odd"))
    assert again.text.startswith("question\n")
    assert "line 3: odd" in again.text
    assert "reply" in again.text
    assert again.digest != first.digest
    assert "It was" not in repair(first, " ", Failure(kind, "line 3: odd")).text


def test_a_huge_reply_is_sent_back_in_part():
    again = repair(Prompt("", ""), "a" * 10**6, Failure(Rejected.NO_CODE, "too long"))
    assert len(again.text) < 30_000
    assert "characters left out" in again.text
