"""The grammar as a writer: what it goes by when it refines."""

from dataclasses import replace

from oracle.drafts import Draft
from oracle.grammar.genome import read_story
from oracle.grammar.search import GrammarOracle
from oracle.grammar.starts import Start
from oracle.grammar_writer import GrammarWriter
from oracle.values import Against, Score
from tests.oracle.stated_returns import a_task, opponents

WRITER = GrammarWriter(GrammarOracle(Start.FULL))
TASK = a_task()
HIDDEN = replace(TASK, hidden=opponents(1.0), hidden_share=0.9)


def scored(task, u, hidden=0.0):
    """One return against whoever is shown, whatever hidden opponents return."""
    shown = tuple(Against(one.digest, 5.0, 1.0, 8) for one in TASK.opponents)
    unseen = tuple(Against(one.digest, hidden, 1.0, 8) for one in task.hidden)
    return Score(u, 1.0, shown + unseen)


def refined(task, mine, theirs):
    """Refinements of one program after another was tried; how they go depends on both scores."""
    first = WRITER.write(task, Draft("a00")).source
    other = WRITER.write(task, Draft("a01")).source
    return [
        WRITER.write(
            task,
            Draft(f"b{place:02}", source=first, score=mine, inspirations=((other, theirs),)),
        ).source
        for place in range(20)
    ]


def test_hidden_opponents_count_where_it_refines() -> None:
    good, bad = scored(HIDDEN, 360.5, 400.0), scored(HIDDEN, -359.5, -400.0)
    assert refined(HIDDEN, good, bad) != refined(HIDDEN, bad, good)


def test_without_hidden_opponents_it_goes_by_the_returns_of_the_mixture() -> None:
    assert refined(TASK, scored(TASK, 1.0), scored(TASK, 2.0)) == refined(
        TASK, scored(TASK, 3.0), scored(TASK, 4.0)
    )


def test_the_story_tells_the_score_that_counted() -> None:
    first = WRITER.write(HIDDEN, Draft("a00")).source
    draft = Draft("b00", source=first, score=scored(HIDDEN, -359.5, -400.0))
    written = WRITER.write(HIDDEN, draft).source
    assert read_story(written).steps[-1].parent.mean == -359.5
    assert "-359.5 +- 1.0, hidden opponents counted" in " ".join(written.split())
    draft = Draft("b00", source=first, score=scored(TASK, 5.0))
    assert "hidden" not in WRITER.write(TASK, draft).source
