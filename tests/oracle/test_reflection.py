"""What a prompt says of matches can be read by who knows nothing but the prompt."""

from dataclasses import replace

import pytest

from arena.games import GAMES, game
from oracle.context import Filter
from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Told, Trace, Tried
from oracle.values import Against, Failure, Rejected, Score, Task
from oracle.writer import WriterOptions, preview
from tests.oracle.stated_returns import opponents, program, score_of

ALL = WriterOptions(shown=Filter())
HAND = "you in seat 0: Seat 0 K, Seat 1 Q, Preflop 0c 1r 0f, Pot 4, End fold, Seat 0 won -1"


def traced(played, costliest):
    """A prompt whose program has a trace against both opponents, on one line."""
    task = Task(played, opponents(0.6, 0.4), "", 7, "k03")
    traces = tuple(Trace(one.digest, 8, (), (), costliest) for one in task.opponents)
    draft = Draft("a01", program(1.0), score_of(task, 1.0), told=Told(traces=traces))
    return " ".join(preview(task, draft, ALL).text.split())


@pytest.mark.parametrize("name", sorted(GAMES))
def test_abbreviations_of_a_costly_hand_stand_beside_what_they_mean(name):
    """Once, however many opponents there are, and only where there are such hands."""
    played = game(name)
    told = f"How to read one of your costliest {played.step}s: {played.telling.legend}."
    assert traced(played, (HAND,)).count(told) == (1 if played.telling.legend else 0)
    assert "How to read" not in traced(played, ())


def test_the_letters_of_leduc_are_explained():
    text = traced(game("leduc"), (HAND,))
    assert text.index("seat and first letter of the action") < text.index("Preflop 0c 1r 0f")


def test_both_sides_choices_are_told():
    task = Task(game("rrps"), opponents(1.0), "", 7, "k03")
    (only,) = task.opponents
    trace = Trace(only.digest, 8, (), (("first", "ROCK 100%"),), (), (("first", "PAPER 100%"),))
    draft = Draft("a01", program(1.0), score_of(task, 1.0), told=Told(traces=(trace,)))
    text = preview(task, draft, ALL).text
    assert "- what the opponent did (where it stood: its choices): first: ROCK 100%\n" in text
    assert "- what your program did (where it stood: its choices): first: PAPER 100%\n" in text


def test_what_a_race_gave_up_is_told_as_such_and_is_not_among_the_best():
    task = Task(game("rrps"), opponents(0.6, 0.4), "", 7, "k03")
    lucky = replace(score_of(task, 99.0), stopped=True)
    tried = [
        Tried(f"a{n:02}", program(float(n)), score_of(task, float(n)), "", "") for n in range(14)
    ]
    tried[1] = replace(tried[1], score=lucky)
    draft = Draft("a14", program(13.0), score_of(task, 13.0), told=Told(tried=tuple(tried)))
    text = preview(task, draft, ALL).text
    assert "a01: +99.00" not in text  # of the first ones the best four stand there, and it is none
    assert "- To beat: +13.00 throws" in text
    tried[13] = replace(tried[13], score=lucky)
    draft = replace(draft, told=Told(tried=tuple(tried)))
    assert "- a13: +99.00 (standard error 1.00), given up" in preview(task, draft, ALL).text


def test_what_was_not_played_has_no_return_and_no_error():
    """So every first prompt of a search that begins with the only opponent's program."""
    task = Task(game("rrps"), opponents(1.0), "", 7, "k01")
    (only,) = task.opponents
    even = Score(0.0, 0.0, (Against(only.digest, 0.0, 0.0, 0),))
    first = Tried(INCUMBENT, only.source, even, "Plays at random", "")
    draft = Draft("i0g00d0", told=Told(tried=(first,)))
    text = " ".join(preview(task, draft, ALL).text.split())
    assert (
        "- To beat: 0 throws per match, which is even. Nothing was played for that: the program "
        "that the search began with is the opponent's own program, and even against itself."
    ) in text
    assert (
        "- the program that the search began with: not played. It is the opponent's own program, "
        "and even against itself. Plays at random"
    ) in text
    assert "+0.00" not in text and "standard error 0.00" not in text
    worse = Tried("i0g01d0", program(-5.0), score_of(task, -5.0), "", "")
    text = preview(task, replace(draft, told=Told(tried=(first, worse))), ALL).text
    assert "- i0g01d0: -5.00 (standard error" in text and "- To beat: 0 throws per match" in text
    same = Failure(Rejected.DUPLICATE, "it returns the same", twin=INCUMBENT)
    draft = Draft("i0g01d1", program(-5.0), score_of(task, -5.0), same, told=Told(tried=(first,)))
    assert "and even against itself, and so would yours be." in preview(task, draft, ALL).text
