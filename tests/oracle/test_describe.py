"""Descriptions: structured, kept by the program's digest, and without a line of its code."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games import game
from oracle.describe import (
    FIELDS,
    SCHEMA,
    Description,
    describe,
    parse_description,
    without_code,
)
from oracle.models.errors import PromptRefused
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.protocol import Finish, Reply
from oracle.prompt import LONGEST
from oracle.quotations import CUT, leaks
from oracle.values import Failure, Opponent, Rejected
from tests.oracle.scripted_model import ScriptedModel

RRPS = game("rrps")
SOURCE = '''class Agent:
    """Copies its opponent, one throw late."""

    def act(self, observation):
        last = observation["opponent_action"]
        return last or "ROCK"
'''
OPPONENT = Opponent("0" * 32, "csro/run-k01", SOURCE, 1.0)


def spoken(**changed):
    texts = {name: f"It has a word on {name}." for name in FIELDS}
    return json.dumps({**texts, **changed})


def described(*answers):
    model = ScriptedModel(answers)
    return describe(model, RRPS, OPPONENT), model


def test_one_structured_call_is_enough():
    found, model = described(spoken(idea="Repeats what the other side threw."))
    assert found.idea == "Repeats what the other side threw."
    assert "- Weaknesses: It has a word on weaknesses." in found.text
    (request,) = model.requests
    assert request.schema == SCHEMA
    assert set(SCHEMA["required"]) == set(FIELDS)
    assert SOURCE.rstrip() in request.prompt
    assert "1000 times in a match" in request.prompt  # the rules
    assert OPPONENT.digest in request.key


def test_the_journal_answers_for_a_program_that_is_met_again(tmp_path):
    scripted = ScriptedModel([spoken(idea=f"Version {n}.") for n in range(9)])
    model = JournaledModel(scripted, SqliteJournal(tmp_path / "journal.sqlite"))
    first = describe(model, RRPS, OPPONENT)
    heavier = Opponent(OPPONENT.digest, "another/label", SOURCE, 0.1)
    assert describe(model, RRPS, heavier) == first
    assert len(scripted.requests) == 1
    other = Opponent("1" * 32, "csro/run-k02", SOURCE + "# other\n", 1.0)
    assert describe(model, RRPS, other).idea == "Version 1."


def test_quoted_code_is_asked_for_again_in_words():
    leaky = spoken(chooses='It does  `last = observation["opponent_action"]`\nat once.')
    found, model = described(leaky, spoken(chooses="It remembers the last throw."))
    assert found.chooses == "It remembers the last throw."
    assert 'last = observation["opponent_action"]' in model.requests[1].prompt
    assert model.requests[1].key != model.requests[0].key
    assert "Copies its opponent" not in found.text


def test_a_description_that_is_all_code_does_not_double_the_question():
    """As no other prompt, this one is not longer than its bound."""
    lines = [f"total_{n} = total_{n} + weights[{n}] * seen[{n}]" for n in range(1_100)]
    source = "\n".join(lines) + "\n"
    model = ScriptedModel([spoken(idea=" ".join(lines))] * 2)
    describe(model, RRPS, Opponent("2" * 32, "csro/run-k03", source, 1.0))
    first, again = (request.prompt for request in model.requests)
    assert len(first) < len(again) < min(LONGEST, len(first) + 20_000)
    assert "- 1060 more" in again


DOCUMENTED = '''import random


class Agent:
    """Repeats a winning throw

    and is random
    otherwise, with equal chances."""

    def act(self, observation):
        """Chooses at
        random now and then."""
        # A coin decides: heads stays.
        return random.choice(
            ("ROCK", "PAPER"),  # never scissors
        )
'''


def test_words_of_docstrings_and_comments_are_no_code():
    """They pay for no second call, though the description uses the very same words."""
    words = "It repeats a winning throw and is random otherwise, with equal chances."
    found, model = described(
        spoken(
            idea=words,
            chooses="Repeats a winning throw",
            randomness="A coin decides: heads stays. random now and then. never scissors",
        )
    )
    assert found.idea == words
    assert len(model.requests) == 1
    opponent = Opponent("2" * 32, "csro/run-k02", DOCUMENTED, 1.0)
    talk = spoken(
        idea="and is random otherwise, with equal chances. Chooses at random now and then."
    )
    model = ScriptedModel([talk])
    assert isinstance(describe(model, RRPS, opponent), Description)


def test_an_expression_is_asked_for_again_and_then_cut_out():
    """However its blanks and quote marks are set; and what a game asks for may be named."""
    named = "It is asked by `def act(self, observation):` of `class Agent:`."
    leaky = spoken(idea=named, chooses="It does last=observation['opponent_action'] at once.")
    found, model = described(leaky, leaky)
    assert found.idea == named
    assert found.chooses == f"It does {CUT} at once."
    (_, again) = model.requests
    assert "```python\nlast=observation['opponent_action']\n```" in again.prompt
    assert "class Agent" not in again.prompt.partition("quoted code")[2]


def test_a_question_that_is_turned_down_is_a_failure_like_any_other():
    found, model = described(PromptRefused("400: no"), PromptRefused("400: no"))
    assert found.kind is Rejected.BLOCKED
    assert "400: no" in found.reason
    found, model = described(PromptRefused("400: no"), spoken(idea="Second."))
    assert found.idea == "Second."
    found, model = described(Reply("", unread=True))
    assert found.kind is Rejected.TOO_LONG
    assert len(model.requests) == 1


def test_what_is_quoted_twice_is_cut_out():
    leaky = spoken(chooses='Well: return last or "ROCK" is what it does.')
    found, model = described(leaky, leaky)
    assert len(model.requests) == 2
    assert found.chooses == f"Well: {CUT} is what it does."
    assert not leaks(found.text, SOURCE)


def test_longer_quotations_are_cut_whole():
    program = "total = my_wins\ntotal = my_wins - my_losses\n"
    description = Description("So total = my_wins - my_losses.", *["fine"] * 5)
    assert without_code(description, program).idea == f"So {CUT}."


def test_a_reply_that_is_no_description_is_sent_back_once():
    found, model = described("I would rather not.", spoken())
    assert isinstance(found, Description)
    assert "not a JSON object" in model.requests[1].prompt
    found, model = described("no", "no")
    assert found.kind is Rejected.NO_CODE
    assert len(model.requests) == 2
    leaky = spoken(idea='return last or "ROCK"')
    found, _ = described(leaky, "no")  # what was said first is used, cut
    assert found.idea == CUT


def test_blocked_and_empty_replies_are_failures():
    found, _ = described(Reply("", Finish.BLOCKED), Reply("", Finish.BLOCKED))
    assert found.kind is Rejected.BLOCKED
    found, _ = described("", spoken(idea="Second."))
    assert found.idea == "Second."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[1, 2]", Rejected.NO_CODE),
        ("{", Rejected.NO_CODE),
        ('{"idea": "only"}', Rejected.NO_CODE),
        (spoken(idea=3), Rejected.NO_CODE),
        ("{" * 200_000, Rejected.NO_CODE),
        ('{"a":' * 200_000, Rejected.NO_CODE),
        ("{" + '"a":[' * 50_000 + "}", Rejected.NO_CODE),
    ],
)
def test_other_shapes_are_refused(text, kind):
    assert parse_description(Reply(text)).kind is kind
    assert parse_description(Reply('{"idea": "cut', Finish.CUT_OFF)).kind is Rejected.TRUNCATED


@pytest.mark.parametrize(
    "text",
    [
        f"In {{short}}: {spoken()} So {{it}} plays.",
        f'{{"draft": 1}}\n{spoken()}',
        f'{{"description": {spoken()}}}',
        f"[{spoken()}]",
        spoken().replace('"idea"', '"Idea"'),
        spoken(idea=["It has a word", " on idea."]).replace('word", "', 'word", "'),
        spoken().replace("It has a word on idea", "It has\na\tword on idea"),
    ],
)
def test_objects_that_are_slightly_off_are_read(text):
    found = parse_description(Reply(text))
    assert isinstance(found, Description), found
    assert found.idea.replace(";", "").split() == ["It", "has", "a", "word", "on", "idea."]
    assert found.weaknesses == "It has a word on weaknesses."


def test_a_field_may_be_empty():
    found = parse_description(Reply(spoken(randomness="")))
    assert isinstance(found, Description)
    assert found.randomness == ""


def test_of_several_objects_the_last_that_has_all_counts():
    first, last = spoken(idea="First."), spoken(idea="Last.")
    assert parse_description(Reply(first + last + '{"idea": "part"}')).idea == "Last."


def test_a_fence_around_the_object_does_no_harm():
    assert isinstance(parse_description(Reply(f"Here:\n```json\n{spoken()}\n```\n")), Description)


@given(st.text(max_size=200))
def test_any_reply_gives_a_description_or_a_reason(text):
    assert isinstance(parse_description(Reply(text)), Description | Failure)


lines = st.text(alphabet="abc =()[].- ", min_size=1, max_size=30)


@given(
    st.lists(lines, min_size=1, max_size=6),
    st.lists(lines, min_size=6, max_size=6),
    st.data(),
)
def test_no_line_of_the_program_survives(program, texts, data):
    """Whatever is quoted, in whatever field, and however blanks are set."""
    for place in range(6):
        if data.draw(st.booleans()):
            quoted = data.draw(st.sampled_from(program))
            texts[place] = f"{texts[place]} {quoted.replace(' ', '  ')} {texts[place]}"
    source = "\n".join(program)
    cleaned = without_code(Description(*texts), source)
    if cleaned != Description(*[CUT] * 6):
        assert not leaks(cleaned.text, source)


def test_a_quotation_over_two_fields_leaves_nothing():
    description = Description("a", "b", "c", "d", "e", "f")
    assert leaks(description.text, "- Idea: a - Observes: b")
    cleaned = without_code(description, "- Idea: a - Observes: b")
    assert not leaks(cleaned.text, "- Idea: a - Observes: b")
    # Even a program that quotes the cut itself cannot keep this from ending.
    assert without_code(description, "- Idea: a\n- Idea: [...]\n- Observes: b").idea == CUT
