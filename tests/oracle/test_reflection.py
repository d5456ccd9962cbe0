"""What a prompt says of matches can be read by who knows nothing but the prompt."""

import pytest

from arena.games import GAMES, game
from oracle.context import Filter
from oracle.drafts import Draft
from oracle.insight import Told, Trace
from oracle.values import Task
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
