"""What is asked again says what was wrong with the answer, in shorter forms or in other words."""

import pytest

from oracle.context import Filter
from oracle.drafts import Draft
from oracle.prompt import Prompt, repair, reworded
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
    least = reworded(first, Failure(Rejected.BLOCKED, "SAFETY"), least=True)
    assert "'opponent0'" not in least.text
    assert least.shorter == ()


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
