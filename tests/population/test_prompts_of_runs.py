"""Prompts say what is so of the code that plays: kinds of hidden opponents, names of members."""

from __future__ import annotations

import ast
import inspect
import random
from dataclasses import replace
from typing import get_type_hints

import pytest

from arena import Arena, game
from oracle.context import Filter, OpponentInput
from oracle.drafts import Draft
from oracle.values import Failure, Opponent
from oracle.writer import WriterOptions, preview
from population import hidden
from population.config import OracleChoice, RunConfig
from population.evaluator import Evaluator, Lineage
from population.exploit import task_against
from population.matches import Matches
from population.members import Member, task_of
from population.records import Sigma
from tests.oracle.stated_returns import a_task, score_of
from tests.population.test_exploit import ROCKS

KINDS = {
    "_older": "*older*: older programs of the population",
    "_tried": "*tried*: programs that were tried, did not join it",
    "_mutants": "*altered*: copies of the heaviest opponents",
    "strangers": "*without memory*: simple policies that were drawn at random",
    "credulous": "*credulous*, often more than all others together",
}
"""What makes a kind of hidden opponents -> how a prompt calls that kind."""


def makers() -> set[str]:
    """Functions from which `with_hidden` takes opponents."""
    tree = ast.parse(inspect.getsource(hidden.with_hidden))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    ours = {name: getattr(hidden, name) for name in called if hasattr(hidden, name)}
    return {
        name
        for name, one in ours.items()
        if inspect.isfunction(one) and get_type_hints(one).get("return") == list[Opponent]
    }


def test_the_prompt_names_every_kind_of_hidden_opponents() -> None:
    assert makers() == set(KINDS), "prompts/generality.md and this test are to name the kinds"
    task = replace(a_task(0.6, 0.4), hidden_share=0.5)
    text = " ".join(preview(task, Draft("a00"), WriterOptions()).text.split())
    for told in KINDS.values():
        assert f"- {told}" in text
    others = hidden.OLDER + hidden.TRIED + len(hidden.SHIFTS) + hidden.STRANGERS
    assert ("often more than all others together" in text) == (others < hidden.CREDULOUS)


@pytest.mark.parametrize(
    ("opponents", "held_back"), [("code", set()), ("description", set()), ("none", {"p2", "p3"})]
)
def test_older_members_are_hidden_unless_a_prompt_shows_them(
    opponents: str, held_back: set[str]
) -> None:
    task = a_task(0.6, 0.4)
    others = tuple(Opponent(name, name, f"# {name}", 0.0) for name in ("p2", "p3"))
    task = replace(task, others=others)
    config = RunConfig("rrps", OracleChoice("linear", "gemini:x", opponents), hidden_share=0.5)
    older = hidden._older(task, config, random.Random(1))
    assert {one.digest for one in older} == held_back
    filtered = replace(config, oracle=OracleChoice("linear", "gemini:x", "code", "all"))
    assert {one.digest for one in hidden._older(task, filtered, random.Random(1))} == {"p2", "p3"}


def test_a_member_that_is_written_again_is_called_as_the_prompt_calls_it(arena: Arena) -> None:
    played, matches, lineage = game("rrps"), Matches(arena, game("rrps")), Lineage()
    first, second = (
        arena.submit(ROCKS.format(throw=throw), played, f"test/{throw.lower()}").version
        for throw in ("ROCK", "PAPER")
    )
    members = [
        Member(first.digest, "initial", first.payload),
        Member(second.digest, "k02", second.payload),
    ]
    sigma = Sigma({first.digest: 1.0}, 0.0, "nash")
    task = task_of(played, RunConfig("rrps"), members, sigma, 3)
    labels = {member.digest: member.label for member in members}
    evaluate = Evaluator(matches, task, "test/again", 4, lambda source: lineage, labels)
    (failure,) = evaluate([second.payload])
    assert isinstance(failure, Failure) and "this is the program of k02" in failure.reason
    draft = Draft("a01", "x = 1\n", score_of(task, 1.0), failure)
    text = preview(task, draft, WriterOptions()).text
    assert "## Opponent 2: no weight at present" in text
    assert "this is the program of opponent 2," in text
    assert "This is opponent 2." in text
    assert "k02" not in text
    for options in (WriterOptions(shown=Filter(top_k=1)), WriterOptions(OpponentInput.NONE)):
        text = " ".join(preview(task, draft, options).text.split())
        assert "An older member of the population plays just so." in text
        assert "k02" not in text and '"PAPER"' not in text.partition("# Your program so far")[2]


def test_a_policy_that_is_no_program_is_not_said_to_be_a_good_one(arena: Arena) -> None:
    """So `csro exploit` asks a model about it."""
    target = arena.policy("house/rockbot", "rrps")
    task = task_against(game("rrps"), target, 1)
    text = " ".join(preview(task, Draft("a00"), WriterOptions(OpponentInput.NONE)).text.split())
    assert "Every match is against one and the same policy." in text
    assert "strong or weak" in text
    assert "probably" not in text and "other programs" not in text
