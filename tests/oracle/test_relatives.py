"""Each program stands in a prompt once; relatives stand there as what is different."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.games import game
from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.attempts import Attempts
from oracle.context import Filter
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.insight import Gain, Latest, Told, Trace, Tried
from oracle.prompt import LONGEST, repair, reworded
from oracle.reflection import MOST_TRIED
from oracle.relatives import Shelf
from oracle.values import Failure, Opponent, Rejected, Task
from oracle.writer import WriterOptions, preview
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program, score_of

ROOT = Path(__file__).parents[2]
ALL = WriterOptions(shown=Filter())
STARTER = game("rrps").starter.source
RELATIVE = STARTER.replace("FADE = 0.98", "FADE = 0.75")
STRANGER = game("leduc").starter.source
TOWER = f'{RELATIVE}\n\nINNER = """\n{STARTER.replace("class Agent", "class Inner")}"""\n'


def test_a_relative_is_shown_as_its_changes():
    shelf = Shelf()
    assert STARTER.rstrip() in shelf.show("the program of opponent 1", STARTER)
    changes = shelf.show("attempt a01", RELATIVE)
    assert "It is the program of opponent 1, which stands above, with these changes" in changes
    assert "-FADE = 0.98" in changes and "+FADE = 0.75" in changes
    assert len(changes) < len(RELATIVE) / 3
    assert shelf.show("attempt a02", RELATIVE) == "It is attempt a01, which stands above."
    assert STRANGER.rstrip() in shelf.show("attempt a03", STRANGER)


def test_short_programs_and_those_to_be_edited_stand_as_they_are():
    shelf = Shelf({RELATIVE})
    shelf.show("attempt a01", STARTER)
    assert RELATIVE.rstrip() in shelf.show("attempt a02", RELATIVE)
    short = Shelf()
    short.show("one", program(1.0))
    assert program(2.0).rstrip() in short.show("other", program(2.0))


def a_tower(task):
    """A task whose two opponents are relatives."""
    told = [Opponent(str(n) * 32, f"k0{n}", s, 0.5) for n, s in enumerate((STARTER, RELATIVE))]
    return Task(task.game, tuple(told), "", 7, "k03")


def test_a_prompt_shows_relatives_once():
    task = a_tower(a_task())
    text = preview(task, Draft("a00"), ALL).text
    assert text.count("class Agent:") == 1
    assert "with these changes" in text
    draft = Draft("a01", TOWER, score_of(task, 2.0), edit=True)
    assert preview(task, draft, ALL).text.count("class Agent:") == 2  # SEARCH quotes its lines
    broken = Draft("a01", source=TOWER, failure=Failure(Rejected.FAULTY, "line 9: boom"))
    assert preview(task, broken, ALL).text.count("class Agent:") == 2  # it counts its lines
    mine = Draft("a01", RELATIVE, score_of(task, 2.0), edit=True)
    text = preview(task, mine, ALL).text
    assert "+FADE = 0.75" not in text and "\nFADE = 0.75" in text


def a_told(task, number=3, **more):
    tried = tuple(
        Tried(f"a{n:02}", program(float(n), f"p{n}"), score_of(task, float(n)), f"Idea {n}.", "")
        for n in range(number)
    )
    return Told(tried=tried, **more)


def test_earlier_ideas_stand_with_their_results_and_the_target():
    task = a_task()
    told = a_told(task)
    failed = Tried("a03", "", None, "", "faulty: crashed: ZeroDivisionError")
    told = Told(tried=(*told.tried, failed))
    text = preview(task, Draft("a04", told=told), ALL).text
    assert "- a01: +1.00 (standard error 1.00). Idea 1." in text
    assert "- a03: refused, faulty: crashed: ZeroDivisionError" in text
    assert "To beat: +2.00 throws per match (standard error 1.00), by attempt a02" in text
    many = preview(task, Draft("a99", told=a_told(task, 40)), ALL).text
    shown = [n for n in range(40) if f"- a{n:02}:" in many]
    assert len(shown) == MOST_TRIED
    assert shown[-1] == 39
    assert "- 28 more, neither among the best nor among the latest" in many


def told_on_islands(returns=lambda number: float(number)):
    """What each draft of an evolution on two islands is told, and its task.

    Args:
      returns: from the number of drafts before a program to what it returns.
    """
    task = a_task()
    evaluate = Evaluation(task)
    evaluate.insight = SimpleNamespace(
        traces=lambda source, score: (), ceiling=lambda tried: None, idea=lambda source: ""
    )
    writer = ScriptedWriter(lambda draft: program(returns(len(writer.asked)), draft.key))
    evolution = Evolution(islands=2, generations=7, drafts=2, migrate_every=3)
    AlphaEvolve(writer, evolution, EarlyStop(efforts=(1.0,))).respond(task, evaluate)
    return task, writer.asked


def test_what_was_tried_is_said_to_be_that_of_one_line_of_search():
    """Of another island a model is told who visited, of many attempts the latest and the best."""
    task, asked = told_on_islands()
    others = set()
    for draft in asked:
        island, age = draft.key[:2], int(draft.key[3:5])
        keys = {one.key for one in draft.told.tried}
        strange = {key for key in keys if not key.startswith(island)}
        assert len(strange) == 0 if age < 3 else len(strange) <= age // 3
        others |= strange
    assert others
    said = " ".join(preview(task, asked[-1], ALL).text.split())
    assert "Everything before you" not in said
    assert "What this line of search tried before you" in said
    assert "the latest 8, and the best 4 of those before them" in said
    assert said.count("(standard error 1.00)") > MOST_TRIED
    guide = " ".join((ROOT / "docs/csro.md").read_text().split())
    assert (
        f"Of more than {MOST_TRIED} attempts these are the latest 8, and the best 4 of those "
        "before them" in guide
    )
    assert "the island so far, and who visited it from another one" in guide


def test_of_two_equal_drafts_of_a_generation_one_is_shown_beside_the_other():
    """Two founders, and then pairs of which both return the same in every match, but less."""
    task, asked = told_on_islands(lambda number: -float(number + number % 2))
    pairs = [draft for draft in asked if draft.failure is not None]
    assert pairs
    for draft in pairs:
        twin = draft.failure.twin
        assert draft.failure.kind is Rejected.DUPLICATE and twin.endswith("d0")
        text = " ".join(preview(task, draft, ALL).text.split())
        assert f"it returns exactly what attempt {twin} returns" in text
        assert f"This is attempt {twin}. It returned -" in text


def test_the_target_was_played_in_full():
    """A high return by the luck of few matches is none."""
    task = a_task()
    told = a_told(task)
    score = replace(score_of(task, 90.0, 9.0, 16), stopped=True)
    lucky = Tried("a03", "x = 1\n", score, "Luck.", "")
    assert Told(tried=(*told.tried, lucky)).best == told.tried[2]


def test_a_refused_duplicate_stands_beside_the_attempt_that_it_equals():
    task = a_task()
    told = a_told(task)
    failure = Failure(Rejected.DUPLICATE, "this is the program of attempt a01", twin="a01")
    draft = Draft("a04", told.tried[2].source, score_of(task, 2.0), failure, told=told)
    text = preview(task, draft, ALL).text
    assert (
        "This is attempt a01. It returned +1.00 (standard error 1.00), and so would yours." in text
    )
    assert text.count("'p1'") == 1
    inspired = Draft(
        "a04",
        told.tried[2].source,
        score_of(task, 2.0),
        failure,
        ((told.tried[1].source, score_of(task, 1.0)),),
        told=told,
    )
    text = preview(task, inspired, ALL).text
    assert "## Attempt a01: returned +1.00" in text
    assert "It is attempt a01, which stands above." in text
    assert text.count("'p1'") == 1


def test_a_copy_of_an_opponent_is_told_which_one_it_is():
    task = a_task(0.6, 0.4)
    opponent = task.opponents[1]
    attempts = Attempts(task, ScriptedWriter([opponent.source + "# the same\n"]), Evaluation(task))
    (outcome,) = attempts.run([Draft("a00")])
    assert outcome.failure.kind is Rejected.DUPLICATE
    draft = Draft("a01", program(1.0, "mine"), score_of(task, 1.0), outcome.failure)
    assert "This is opponent 2." in preview(task, draft, ALL).text


def test_where_a_return_came_from_is_told_and_goes_before_opponents_do():
    task = a_task(0.6, 0.4)
    gains = (("by quarter of a match", tuple(Gain(f"{n}.", 0.25, 10.0 * n) for n in range(4))),)
    trace = Trace(task.opponents[1].digest, 8, gains, (("first", "ROCK 100%"),), ())
    told = Told(traces=(trace,))
    draft = Draft("a01", program(1.0, "mine"), score_of(task, 1.0), told=told)
    prompt = preview(task, draft, ALL)
    assert "## Against opponent 2, from 8 matches" in prompt.text
    assert "- by quarter of a match: 0. +0.0 (25%); 1. +10.0 (25%)" in prompt.text
    assert "what the opponent did (where it stood: its choices): first: ROCK 100%" in prompt.text
    first = prompt.shorter[0]
    assert "## Against" not in first
    assert "Left out above for lack of room: what is known of earlier matches and attempts" in first
    assert "'opponent1'" in first


def test_what_was_tried_last_stands_beside_the_program_so_far():
    task = a_task(0.6, 0.4)
    one, two = (opponent.digest for opponent in task.opponents)

    def trace(digest, *means, **ends):
        quarters = tuple(Gain(f"{n}.", 0.5, mean) for n, mean in enumerate(means, 1))
        gains = (("by quarter of a match", quarters),)
        if ends:
            gains += (("by end", tuple(Gain(end, 0.1, mean) for end, mean in ends.items())),)
        return Trace(digest, 8, gains, (("first", "ROCK"),), ())

    last = Tried("a02", program(2.0, "last"), score_of(task, -3.0), "Reacts.", "")
    told = Told(
        traces=(trace(two, 1.0, 2.0, gave=-40.0, won=7.0),),
        tried=(last,),
        latest=Latest(last, (trace(one, 9.0, 9.0), trace(two, 5.0, -4.0, won=7.5, lost=-1.0))),
    )
    draft = Draft("a03", program(1.0, "mine"), score_of(task, 1.0), told=told)
    prompt = preview(task, draft, ALL)
    assert "the latest is attempt a02. It returned -3.00" in prompt.text
    assert "## Against opponent 2, from 8 and 8 matches" in prompt.text
    assert "- by quarter of a match: 1. +5.0 (+1.0); 2. -4.0 (+2.0)" in prompt.text
    # What only one of the two was in counts most.
    assert "- by end: won +7.5 (+7.0); lost -1.0 (never); gave never (-40.0)" in prompt.text
    # The program so far never met the other one, which may be itself.
    assert (
        "## Against opponent 1, from 8 matches\n\n- by quarter of a match: 1. +9.0; 2. +9.0\n"
        in (prompt.text)
    )
    assert "latest other program" not in prompt.shorter[0]


BIG = "".join(f"def step_{{n}}_{k}(x):\n    return x * {k} + {{n}}\n" for k in range(900))


def strangers(number):
    """Programs of 40 KB each of which none is much like another."""
    return [BIG.replace("{n}", str(n)) + program(0.0, f"big{n}") for n in range(number)]


def sent(prompt):
    """Every text that may be sent, with its role; none may be too long."""
    forms = [prompt.system + form for form in (prompt.text, *prompt.shorter)]
    assert max(map(len, forms)) <= LONGEST
    return forms


def test_a_prompt_of_any_size_is_bounded():
    """Strangers of 40 KB each: the lightest are left out, and the prompt says so."""
    big = strangers(5)
    assert min(map(len, big)) > 30_000
    told = [Opponent(f"{n}" * 32, f"k0{n}", s, 0.2) for n, s in enumerate(big)]
    task = Task(a_task().game, tuple(told), "", 7, "k03")
    prompt = preview(task, Draft("a00"), ALL)
    assert len(prompt.text) <= LONGEST
    assert "of the 5 opponents.)" in prompt.text
    assert len(prompt.shorter) < 4
    sent(prompt)


@pytest.mark.parametrize("padding", [0, 20_000, 38_000, 42_500, 43_700])
@pytest.mark.parametrize("reply", ["no code", "x = 1\n" * 8_000, "`" * 60_000])
def test_what_is_asked_again_is_bounded_too(padding, reply):
    """However long the question is already: with a refused reply and its reason."""
    first, second = strangers(2)
    told = (
        Opponent("0" * 32, "k00", first, 0.6),
        Opponent("1" * 32, "k01", f"{second}\n# {'a remark ' * (padding // 9)}\n", 0.4),
    )
    task = Task(a_task().game, told, "", 7, "k03")
    prompt = preview(task, Draft("a00"), ALL)
    sent(prompt)
    failure = Failure(Rejected.NOT_A_POLICY, "odd: " + "`" * 9_000)
    texts = sent(repair(prompt, reply, failure))
    assert all("# Your last reply could not be used" in text and "odd: `" in text for text in texts)
    assert all("Answer the request above again" in text for text in texts)
    for text in texts:  # what it lacks, it says
        assert ("'big1'" in text) != ("of the 2 opponents.)" in text)
        assert reply.strip() in text or "characters left out]" in text
    again = sent(reworded(prompt, Failure(Rejected.BLOCKED, "SAFETY")))
    assert all("an exercise in game theory" in text for text in again)


def test_the_reply_is_cut_before_the_question_is():
    """A question that leaves room for 4,000 characters of it is asked again as a whole."""
    (first,) = strangers(1)
    remark = f"# {'a remark ' * 7_400}\n"
    task = Task(a_task().game, (Opponent("0" * 32, "k00", first + remark, 1.0),), "", 7, "k03")
    prompt = preview(task, Draft("a00"), ALL)
    assert LONGEST - 16_000 < len(prompt.text) < LONGEST - 8_000
    again = repair(prompt, "x = 1\n" * 8_000, Failure(Rejected.NO_CODE, "no code"))
    assert again.text.startswith(prompt.text)
    assert "characters left out]" in again.text
    assert "'big0'" not in again.shorter[-1]
    sent(again)


@pytest.mark.parametrize("size", [LONGEST - 400, 3 * LONGEST])
def test_the_shortest_form_is_bounded_too(size):
    """Where nothing else can go, the middle of the question does, and all of the reply."""
    task = a_task()
    source = program(1.0, "mine") + "# long\n" * (size // 7)
    failure = Failure(Rejected.DUPLICATE, "known")
    prompt = preview(task, Draft("a01", source, score_of(task, 1.0), failure), ALL)
    (text,) = sent(prompt)
    assert "characters left out]" in text and "of the 2 opponents.)" in text
    assert text.rstrip().endswith(preview(task, Draft("a00"), ALL).text.rstrip()[-200:])
    (text,) = sent(repair(prompt, "my reply", Failure(Rejected.NO_CODE, "no code")))
    assert "(Left out above for lack of room: your last reply.)" in text
    assert "my reply" not in text
    (text,) = sent(reworded(prompt, Failure(Rejected.BLOCKED, "SAFETY")))
    assert "an exercise in game theory" in text
