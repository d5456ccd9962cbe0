"""What programs of the grammar say of how they came about."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.source_check import MAX_BYTES
from oracle.grammar import leduc, rrps, story
from oracle.grammar.genome import (
    HISTORY_MARK,
    NOTHING_TOLD,
    RrpsGenome,
    read_source,
    read_story,
    write_source,
)
from oracle.grammar.search import GrammarOracle, Question, Scored
from oracle.grammar.starts import Start
from oracle.grammar.story import MOST_STEPS, Measured, Step, Story

LAG = write_source(RrpsGenome((rrps.Part("lag", "theirs", 0, 1),)))
ASKED = Question("rrps", ((LAG, 0.6), ("class Agent: ...", 0.4)), 7, ("k01", "ada/echo"), "k02")


def step(task: str, mean: float | None, reason: str = "by chance") -> Step:
    parent = None if mean is None else Measured(mean, 2.0, {"k01": mean, "ada/echo": -mean})
    return Step(task, reason, ("added x",), parent)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_refined_program_says_what_its_parent_returned_against_whom() -> None:
    oracle = GrammarOracle(Start.PLAIN)
    first = oracle.propose(ASKED)
    second = oracle.refine(ASKED, Scored(first, (-12.0, 3.0), 4.5))
    told = read_story(second).steps
    assert [one.parent for one in told] == [
        None,
        Measured(-6.0, 4.5, {"k01": -12.0, "ada/echo": 3.0}),
    ]
    text = flat(second.partition(HISTORY_MARK)[0])
    assert "from a program that returned -6.0 +- 4.5 (-12.0 against k01)" in text
    assert "Written before it was played." in text


def test_a_measured_step_says_what_it_gained_and_against_whom() -> None:
    told = Story((step("k02", -6.0), step("k02", 4.0), step("k02", 5.0)))
    text = flat(story.prose(told))
    assert "That gained +10.0, most against k01 (+10.0)." in text
    assert text.count("Written before it was played.") == 1


def test_gains_are_not_told_across_mixtures() -> None:
    text = story.prose(Story((step("k02", -6.0), step("k03", 4.0))))
    assert "gained" not in text


def measured(mean: float, hidden: bool = False, **against: float) -> Step:
    return Step("k02", "by chance", ("added x",), Measured(mean, 2.0, against, hidden))


def gained(before: Step, after: Step) -> str:
    """What the docstring says of a step once its program was measured."""
    return flat(story.prose(Story((before, after)))).partition("That gained")[2].partition(" - ")[0]


def test_a_gain_with_hidden_opponents_is_not_put_down_to_a_named_one() -> None:
    worse = gained(measured(-60.0, True, initial=30.0), measured(3.7, True, initial=7.7))
    assert worse == " +63.7, hidden opponents counted; against initial -22.3."
    better = gained(measured(-60.0, True, initial=0.0), measured(3.7, True, initial=12.0))
    assert better == " +63.7, hidden opponents counted; against initial +12.0."
    unnamed = gained(measured(-60.0, True), measured(3.7, True))
    assert unnamed == " +63.7, hidden opponents counted."


@pytest.mark.parametrize(
    ("k01", "k03", "told"),
    [(-4.0, -9.0, "k03 -9.0"), (0.04, 0.0, "k01 +0.0"), (-0.04, 0.0, "k01 +0.0")],
)
def test_what_gained_against_nobody_did_not_gain_most_against_anybody(
    k01: float, k03: float, told: str
) -> None:
    mean = (k01 + k03) / 2
    text = gained(measured(0.0, k01=0.0, k03=0.0), measured(mean, k01=k01, k03=k03))
    assert text == f" {mean:+.1f}; against {told}."


def grown(seed: int, source: str, task: str) -> str:
    """What a plain search makes of a population of one program."""
    return GrammarOracle(Start.PLAIN).propose(
        Question("rrps", ((source, 1.0),), seed, ("k01",), task), seed
    )


def test_a_program_that_grew_from_a_member_goes_on_with_its_story() -> None:
    first = grown(1, LAG, "k02")
    member = GrammarOracle(Start.PLAIN).refine(
        Question("rrps", ((LAG, 1.0),), 1, ("k01",), "k02"), Scored(first, (12.0,), 3.0)
    )
    child = grown(2, member, "k03")
    *before, last = read_story(child).steps
    assert tuple(before) == read_story(member).steps
    assert (last.task, last.parent) == ("k03", None)
    text = flat(child.partition(HISTORY_MARK)[0])
    assert "k02: from a program that returned +12.0 +- 3.0" in text
    assert text.count("Written before it was played.") == 1
    assert text.count("It joined the population.") == 1
    assert text.index("It joined the population.") < text.index("k03:")
    assert "gained" not in text


def test_only_what_a_program_is_built_upon_as_a_member_is_said_to_have_joined() -> None:
    told = Story((step("k02", None), step("k02", 4.0), step("k02", 5.0), step("k03", 6.0)))
    text = flat(story.prose(told))
    assert "joined" not in text
    assert text.count("Written before it was played.") == 1


@pytest.mark.parametrize("start", [Start.PLAIN, Start.PARTS])
def test_of_several_parents_the_first_ones_story_is_told(start: Start) -> None:
    genomes = (RrpsGenome((rrps.Part("lag", "theirs", 0, n),)) for n in (2, 3))
    told = {
        name: write_source(genome, Story((step(name, None),)))
        for name, genome in zip(("ada", "bob"), genomes, strict=True)
    }
    members = tuple((source, 0.5) for source in told.values())
    asked = Question("rrps", members, 3, tuple(told), "k09")
    firsts: set[str] = set()
    for attempt in range(1, 12):
        *before, last = read_story(GrammarOracle(start).propose(asked, attempt)).steps
        first = re.match(r"(?:grown from |a variant of )?(ada|bob)\b", last.reason)
        assert [one.task for one in before] == ([first[1]] if first else [])
        firsts |= {one.task for one in before}
    assert firsts == set(told)


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_stories_that_go_on_through_a_run_stay_short(game: str) -> None:
    members = [("class Agent: ...", "csro/a-run@0")]
    for number in range(1, 13):
        names = tuple(name for _, name in members)
        asked = Question(game, tuple((one, 1.0) for one, _ in members), number, names, f"k{number}")
        first = GrammarOracle(Start.PLAIN).propose(asked)
        scored = Scored(first, tuple(-100.04 for _ in members), 10.0, 3.0)
        source = GrammarOracle(Start.PLAIN).refine(asked, scored)
        members.append((source, f"csro/a-run@{number}"))
        assert len(read_story(source).steps) <= MOST_STEPS
        assert len(source.encode()) < MAX_BYTES
    assert len(read_story(source).steps) == MOST_STEPS


def test_a_story_keeps_the_last_steps() -> None:
    told = Story()
    for number in range(MOST_STEPS + 3):
        told = told.then(step(f"k{number:02}", None))
    assert [one.task for one in told.steps] == [f"k{n:02}" for n in range(3, MOST_STEPS + 3)]


def test_a_program_that_nothing_led_to_tells_nothing() -> None:
    assert read_story(LAG) == NOTHING_TOLD
    assert "How it came about" not in LAG
    assert read_story(f"{LAG}\n{HISTORY_MARK}\n# [not a story") == NOTHING_TOLD


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from(("rrps", "leduc")))
def test_a_source_tells_its_story_and_its_genome(seed: int, game: str) -> None:
    rng = random.Random(seed)
    genome = rrps.random_genome(rng) if game == "rrps" else leduc.random_genome(rng)
    told = Story((step("k01", None), step("k02", round(rng.uniform(-9, 9), 1))))
    source = write_source(genome, told)
    assert read_source(source) == genome
    assert read_story(source) == told
    compile(source, "policy", "exec")


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_what_changed_is_told_in_words(game: str) -> None:
    question = Question(game, (("class Agent: ...", 1.0),), 3, ("them",), "k05")
    current = GrammarOracle().propose(question)
    for attempt in range(6):
        source = GrammarOracle().refine(question, Scored(current, (-1.0,)), (), attempt)
        (changed,) = read_story(source).steps
        assert changed.task == "k05" and changed.reason and changed.changes
        assert flat(changed.changes[0]) in flat(source)
