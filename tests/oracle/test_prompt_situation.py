"""What a prompt says of its opponents is so: who they are, what is scored, what they are called."""

from dataclasses import replace

import pytest

from arena.games import game
from oracle.attempts import Attempts, revision
from oracle.context import Filter, OpponentInput
from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Told, Tried
from oracle.values import Failure, Rejected, Task
from oracle.writer import WriterOptions, preview
from tests.oracle.stated_returns import (
    Evaluation,
    ScriptedWriter,
    a_task,
    opponents,
    program,
    score_of,
)

TOP_2 = WriterOptions(shown=Filter(top_k=2))
SHOWN = [WriterOptions(form, Filter(top_k=2)) for form in OpponentInput]


def flat(task, draft=None, options=TOP_2):
    return " ".join(preview(task, draft or Draft("a00"), options).text.split())


def a_pure_task(**more):
    """Sigma plays one member alone; two others stand beside it in the population."""
    first, *rest = opponents(1.0, 0.0, 0.0)
    return Task(game("rrps"), (first,), "", 7, "k03", tuple(rest), **more)


@pytest.mark.parametrize("options", SHOWN, ids=lambda options: options.opponents.value)
@pytest.mark.parametrize("task", [a_pure_task(), a_task(0.6, 0.4), a_task(1.0)])
def test_the_goal_is_what_is_scored(task, options):
    plain, shared = "Your goal is the highest mean return", "Your goal is the highest score."
    text = flat(task, options=options)
    assert plain in text and shared not in text
    text = flat(replace(task, hidden_share=0.9), options=options)
    assert shared in text and plain not in text
    assert "10% of it is the mean return, in throws per match, against" in text
    assert "the other 90% comes from hidden opponents" in text
    assert "90% of it is the mean return" in text  # under the title that the goal names
    assert text.count("How generality is scored") == 2
    assert "mixture alone" not in text


@pytest.mark.parametrize("share", [0.0, 0.9])
@pytest.mark.parametrize(("most", "them"), [(2, "it"), (3, "them")])
def test_members_without_weight_are_not_said_to_be_scored(share, most, them):
    options = WriterOptions(shown=Filter(top_k=most))
    text = flat(a_pure_task(hidden_share=share), options=options)
    assert f"Your program is not scored against {them}, but what beats {them} as well" in text


def test_an_equilibrium_is_one_of_a_population():
    """The only policy that somebody looks for an answer to is none."""
    told = "by itself is the current equilibrium of a population"
    assert told in flat(a_pure_task())
    assert told not in flat(a_task(1.0)) and "one and the same program" in flat(a_task(1.0))


def test_one_policy_that_is_not_shown_can_be_anything():
    hidden = WriterOptions(OpponentInput.NONE)
    text = flat(a_task(1.0), options=hidden)
    assert "Every match is against one and the same policy." in text
    assert "strong or weak" in text
    assert "other programs" not in text and "good" not in text
    assert "they are other programs for the same game" in flat(a_task(0.6, 0.4), options=hidden)


@pytest.mark.parametrize("options", SHOWN, ids=lambda options: options.opponents.value)
@pytest.mark.parametrize("task", [a_pure_task(), a_task(0.6, 0.4), a_task(1.0)])
def test_hidden_opponents_are_met_besides_those_of_the_mixture(task, options):
    but = "Every match but those against hidden opponents is against one"
    text = flat(task, options=options)
    assert "Every match is against one" in text and "hidden" not in text
    text = flat(replace(task, hidden_share=0.9), options=options)
    assert but in text and "Every match is" not in text and "All of them" not in text


@pytest.mark.parametrize(
    ("share", "told", "rest"), [(0.999, "99.9%", "0.1%"), (0.07, "7%", "93%"), (0.9, "90%", "10%")]
)
def test_shares_of_the_score_are_exact(share, told, rest):
    task = replace(a_task(0.6, 0.4), hidden_share=share)
    one = replace(task.opponents[0], digest="f" * 32, weight=0.0)
    task = replace(task, hidden=(one,))
    score = score_of(task, 3.0)
    met = replace(score.against[0], digest=one.digest)
    score = replace(score, against=(*score.against, met))
    text = flat(task, Draft("a01", program(3.0), score))
    assert f"highest score. {rest} of it is the mean return" in text
    assert f"the other {told} comes from hidden opponents" in text
    assert f"{told} of it is the mean return, in throws per match, against hidden" in text
    assert f"| hidden | {told} of the score |" in text


def began(task, options=TOP_2, **more):
    """The forms of a prompt of a search that began with the first opponent's own program."""
    first = task.opponents[0].source
    task = replace(task, incumbent=first)
    same = "in every match it returns exactly what the program that the search began with returns"
    same = f"{same}; change what the program does"
    told = Told(
        tried=(
            Tried(INCUMBENT, first, score_of(task, 5.0), "", ""),
            Tried("a00", program(-1.0), score_of(task, -1.0), "", ""),
            Tried("a01", "", None, "", f"duplicate: {same}"),
        )
    )
    failure = Failure(Rejected.DUPLICATE, same, twin=INCUMBENT)
    draft = Draft("a02", program(-1.0), score_of(task, -1.0), failure, told=told, **more)
    prompt = preview(task, draft, options)
    return [" ".join(form.split()) for form in (prompt.text, *prompt.shorter)]


@pytest.mark.parametrize("weights", [(1.0,), (0.6, 0.4)])
def test_what_a_search_began_with_is_called_by_its_opponent_s_number(weights):
    text, *_, least = began(a_task(*weights))
    name = "opponent 1's own program, with which the search began"
    assert f"- To beat: +5.00 throws per match (standard error 1.00), by {name}. " in text
    assert f"- {name}: +5.00 (standard error 1.00)" in text
    assert text.count(f"it returns exactly what {name}, returns") == 2
    assert f"This is {name}. It returned +5.00" in text
    assert "the program that the search began with" not in text
    assert "exactly what the program that the search began with returns" in least  # shows nobody


@pytest.mark.parametrize("form", [OpponentInput.NONE, OpponentInput.DESCRIPTION])
def test_who_is_shown_no_program_is_told_of_no_opponent_s_own(form):
    text, *_ = began(a_task(0.6, 0.4), WriterOptions(form))
    assert "per match (standard error 1.00), by the program that the search began with." in text
    assert text.count("exactly what the program that the search began with returns") == 2
    assert "own program, with" not in text


def test_what_a_search_began_with_is_named_so_among_other_programs():
    task = a_task(0.6, 0.4)
    first = task.opponents[0].source
    others = ((first, score_of(task, 5.0)),)
    text, *_ = began(task, WriterOptions(OpponentInput.NONE), inspirations=others)
    assert "## The program that the search began with: returned +5.00" in text
    assert "ttempt incumbent" not in text


def duplicate_of(ref):
    reason = f"this is the program of {ref}, which is in the population already"
    return Failure(Rejected.DUPLICATE, reason)


@pytest.mark.parametrize(
    ("place", "options", "name"),
    [
        (0, TOP_2, "opponent 1"),
        (1, TOP_2, "opponent 2"),
        (2, TOP_2, "a member that is not shown"),
        (0, WriterOptions(OpponentInput.NONE), "opponent 1"),
        (1, WriterOptions(OpponentInput.NONE), "a member that is not shown"),
    ],
)
def test_nobody_has_two_names(place, options, name):
    task = a_pure_task()
    ref = (*task.opponents, *task.others)[place].ref
    failure = duplicate_of(ref)
    tried = (Tried("a00", "", None, "", f"duplicate: {failure.reason}"),)
    sound = Draft("a01", program(1.0), score_of(task, 1.0), failure, told=Told(tried=tried))
    for draft in (sound, replace(sound, source="", score=None)):
        text = flat(task, draft, options)
        assert text.count(f"this is the program of {name}, which is in") == 2
        assert ref not in text


def test_a_member_that_a_shorter_form_leaves_out_is_not_named_in_it():
    task = a_pure_task()
    failure = duplicate_of(task.others[0].ref)
    draft = Draft("a01", program(1.0), score_of(task, 1.0), failure)
    prompt = preview(task, draft, TOP_2)
    assert "the program of opponent 2," in prompt.text
    *_, least = prompt.shorter
    assert "the program of a member that is not shown," in least


def test_what_a_program_says_itself_is_left_alone():
    """A label may be any word, such as the first policy's: initial."""
    (only,) = a_task(1.0).opponents
    task = replace(a_task(1.0), opponents=(replace(only, ref="initial"),))
    crash = "crashed in 2 of its matches, the first against initial: NameError: 'initial', initial"
    text = flat(task, Draft("a01", "x = 1\n", failure=Failure(Rejected.FAULTY, crash)))
    assert "the first against opponent 1: NameError: 'initial', initial" in text


def test_a_copy_of_an_opponent_is_told_of_by_its_number():
    task = a_task(0.6, 0.4)
    writer = ScriptedWriter([program(-1.0), task.opponents[1].source])
    attempts = Attempts(task, writer, Evaluation(task))
    (best,) = attempts.run([Draft("a00")])
    (last,) = attempts.run([revision("a01", best, best, attempts)])
    text = flat(task, revision("a02", best, last, attempts))
    assert "this is the program of opponent 2, which is known already" in text
    assert task.opponents[1].ref not in text
