"""What a prompt says of matches can be read by who knows nothing but the prompt."""

from dataclasses import replace

import pytest

from arena.analysis.stationary import Ceiling
from arena.games import GAMES, game
from oracle.context import Filter
from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Told, Trace, Tried
from oracle.values import Against, Failure, Opponent, Rejected, Score, Task
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
        "- To beat: 0 throws per match, which is even, by the program that the search began with. "
        "Nothing was played for that: it is the opponent's own program, and even against itself."
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


SORTS = ("older", *("credulous",) * 3)


def a_task_with_hidden():
    """Two opponents, and four hidden ones of two sorts."""
    hidden = tuple(
        Opponent(f"{place:032}", f"h{place}", "", 0.0, group=sort)
        for place, sort in enumerate(SORTS)
    )
    task = Task(game("rrps"), opponents(0.6, 0.4), "", 7, "k03", hidden=hidden)
    return replace(task, hidden_share=0.9)


def who_met(task, u, hidden, **more):
    """A score of all opponents and so many of the hidden ones, the last first."""
    met = [Against(one.digest, u, 1.0, 4) for one in task.hidden[len(task.hidden) - hidden :]]
    score = score_of(task, u)
    return replace(score, against=(*score.against, *met), **more)


def a_race(task, lost):
    """The prompt of a program beside which another was tried and given up with this score."""
    best = (program(1.0, "best"), who_met(task, 1.0, len(task.hidden)))
    other = (program(-9.0, "lost"), lost)
    tried = tuple(Tried(f"a{place:02}", *one, "", "") for place, one in enumerate((best, other)))
    draft = Draft("a02", *best, inspirations=(other,), told=Told(tried=tried))
    return " ".join(preview(task, draft, ALL).text.split())


def test_who_was_given_up_by_a_sample_has_an_estimated_return():
    task = a_task_with_hidden()
    text = a_race(task, who_met(task, -9.0, 2, stopped=True))
    assert "## Attempt a01: returned -9.00 (standard error 1.00), given up |" in text
    assert text.count("met only some of the hidden opponents, an estimate: the return of") == 2
    assert "Those that were not given up were played against the same opponents." in text
    assert "They were played" not in text
    assert "part alone." not in text
    assert "| hidden | 90% of the score, 2 met | -9.00 | 0.71 | 8 |" in text
    assert "| hidden: credulous | 3 of 4 hidden, 2 met | -9.00 | 0.71 | 8 |" in text
    whole = text[text.index("# Your program so far") : text.index("# Other programs")]
    assert "| hidden | 90% of the score | +1.00 | 0.50 | 16 |" in whole
    assert "| hidden: older | 1 of 4 hidden | +1.00 | 1.00 | 4 |" in whole
    assert "| hidden: credulous | 3 of 4 hidden | +1.00 | 0.58 | 12 |" in whole


def test_who_was_given_up_by_matches_with_all_returned_that():
    for task in (a_task_with_hidden(), Task(game("rrps"), opponents(0.6, 0.4), "", 7, "k03")):
        text = a_race(task, who_met(task, -9.0, len(task.hidden), stopped=True))
        assert "## Attempt a01: returned -9.00 (standard error 1.00), given up |" in text
        assert text.count("and its return is of that part alone.") == 2
        assert "an estimate" not in text and " met |" not in text
        text = a_race(task, who_met(task, -9.0, len(task.hidden)))
        assert "They were played against the same opponents. Take" in text
        assert "given up" not in text and "part alone" not in text


def test_which_attempts_are_listed_is_told_where_some_are_not():
    task = Task(game("rrps"), opponents(0.6, 0.4), "", 7, "k03")
    found = [
        Tried(f"a{n:02}", program(float(n)), score_of(task, float(n)), "", "") for n in range(20)
    ]
    failed = Tried("a00", "", None, "", "it was empty")

    def said(*tried):
        draft = Draft("a20", program(1.0), score_of(task, 1.0), told=Told(tried=tried))
        return " ".join(preview(task, draft, ALL).text.split())

    for few in (found[:1], found[:12]):
        assert "the latest" not in said(*few) and "Listed" not in said(*few)
    assert "words. Listed are the latest 8, and the best 4 of those before them. " in said(*found)
    assert "Listed are the latest 8. " in said(failed, *found[:8])
    assert "Listed are the latest 8, and the best 1 of those before them." in said(
        failed, *found[:9]
    )


def test_matches_that_an_opponent_forfeited_are_told():
    task = a_task_with_hidden()
    score = who_met(task, 3.0, 4)
    first, *rest = (replace(one, forfeited=3) for one in score.against)
    second, *hidden = rest
    score = replace(score, against=(first, replace(second, forfeited=0), *hidden))
    text = preview(task, Draft("a01", program(1.0), score), ALL).text
    assert "| 1 | 0.6000 | +3.00 | 1.00 | 64, of which the opponent forfeited 3 |" in text
    assert "| 2 | 0.4000 | +3.00 | 1.00 | 64 |" in text
    assert text.count("of which the opponent forfeited") == 1


def test_an_estimated_most_begins_with_what_it_assumes():
    task = Task(game("rrps"), opponents(1.0), "", 7, "k03")

    def said(ceiling):
        text = preview(task, Draft("a00", told=Told(ceiling=ceiling)), ALL).text
        return " ".join(text.split())

    assert (
        "- The most, by an estimate: if the opponents choose by the present situation alone, no "
        "program can return more than about +9.50 throws per match against this mixture (standard "
        "error 0.50); one that remembers may give more. This rests on 1,200 choices that they made"
    ) in said(Ceiling(9.5, 0.5, exact=False, decisions=1200))
    assert "more than +9.50 throws per match against this mixture. That is exact." in said(
        Ceiling(9.5, 0.0, exact=True, decisions=0)
    )
