"""What programs of the grammar say of how they came about."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
