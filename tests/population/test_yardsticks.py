"""Yardsticks: who has a say in a run's meta-strategy beyond its members, and when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from arena import Arena, game
from arena.enrol import Enrolled
from oracle.grammar.genome import MARK
from oracle.values import Evaluate, Task
from population.commands import command_of
from population.comparison import title_of
from population.config import OracleChoice, RunConfig
from population.evaluator import Lineage
from population.hidden import STRANGERS, with_hidden
from population.launch import carry_out
from population.matches import Matches
from population.members import Member, task_of
from population.records import Sigma
from population.runs import Runs
from population.yardsticks import beyond_members
from tests.population.small_run import small_config, told
from tests.population.test_exploit import ROCKS

CREDULOUS = 3
LEARNS = '''from random import choice, random


class Agent:
    """Plays at random, {name}, but meets the throw that came after the last two throws before."""

    def __init__(self):
        self.seen, self.before = {{}}, None

    def act(self, observation):
        last = (observation["my_action"], observation["opponent_action"])
        if self.before is not None:
            self.seen[self.before] = last[1]
        self.before = last
        expected = self.seen.get(last)
        if expected is None or random() < {noise}:
            return choice(["ROCK", "PAPER", "SCISSORS"])
        return {{"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}}[expected]
'''


@pytest.fixture(autouse=True)
def few_are_credulous(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("population.hidden.CREDULOUS", CREDULOUS)
    yield


def config(**changed: object) -> RunConfig:
    return replace(small_config(1), hidden_share=0.5, **changed)


def entered(arena: Arena, source: str, label: str) -> Member:
    found = arena.submit(source, "rrps", f"test/{label}")
    assert isinstance(found, Enrolled), found
    return Member(found.version.digest, label, source)


@pytest.fixture
def members(arena: Arena) -> list[Member]:
    """One that always throws the same, one that learns, and one that mostly plays at random."""
    return [
        entered(arena, ROCKS.format(throw="ROCK"), "initial"),
        entered(arena, LEARNS.format(name="seldom", noise=0.1), "k01"),
        entered(arena, LEARNS.format(name="mostly", noise=0.95), "k02"),
    ]


def test_they_tell_members_apart_and_are_drawn_once(arena: Arena, members: list[Member]) -> None:
    matches = Matches(arena, game("rrps"))
    found = beyond_members(members, matches, config(), "y")
    assert found is not None and found.shape == (3, STRANGERS + CREDULOUS)
    assert np.isfinite(found).all()
    assert found[1].mean() > found[2].mean() + 50 and found[1].mean() > found[0].mean() + 50
    assert matches.spent.trials == len(matches.yardsticks) == STRANGERS + CREDULOUS
    again = beyond_members(members, matches, config(), "y")
    assert again is not None and again.tolist() == found.tolist()
    matches = Matches(arena, game("rrps"))  # of another run, or of this one gone on with
    again = beyond_members(members, matches, config(), "other")
    assert again is not None and again.tolist() == found.tolist(), "of equal runs they are equal"
    assert (matches.spent.matches, matches.spent.trials) == (0, 0), "all is stored"
    fewer = beyond_members(members[:2], matches, config(), "y")
    assert fewer is not None and fewer.tolist() == found[:2].tolist()
    elsewhere = beyond_members(members[:1], Matches(arena, game("rrps")), config(seed=2), "y")
    assert elsewhere is not None and elsewhere.tolist() != found[:1].tolist()


def test_they_are_drawn_apart_from_hidden_opponents(arena: Arena, members: list[Member]) -> None:
    """Who chose a candidate flatters it."""
    matches = Matches(arena, game("rrps"))
    sigma = Sigma({members[0].digest: 1.0}, 0.0, "nash")
    task = task_of(game("rrps"), config(), members[:1], sigma, 1)
    hidden = {one.digest for one in with_hidden(task, matches, config(), "y", ()).hidden}
    beyond_members(members[:1], matches, config(), "y")
    kept = {one.digest: one for one in arena.policies("rrps", name="csro/y-hidden")}
    drawn = kept.keys() - hidden
    assert len(drawn) == STRANGERS + CREDULOUS
    assert sum(MARK in kept[one].payload for one in drawn) == CREDULOUS
    assert {kept[one].status.value for one in drawn} == {"candidate"}
    assert not {one.digest for one in members} & drawn


@pytest.mark.parametrize(
    "without",
    [
        small_config(1),
        config(solver="lp"),
        config(yardsticks=False),
        config(oracle=OracleChoice("zero-shot")),
    ],
    ids=["no share", "another rule", "of before", "nothing to choose"],
)
def test_runs_without(arena: Arena, members: list[Member], without: RunConfig) -> None:
    matches = Matches(arena, game("rrps"))
    assert not without.has_yardsticks
    assert beyond_members(members, matches, without, "y") is None
    assert matches.spent.matches == 0


def test_runs_of_before_have_none_and_are_told_apart() -> None:
    now = config()
    assert now.has_yardsticks and RunConfig.from_document(now.to_document()) == now
    document = now.to_document()
    del document["yardsticks"]
    for idle in (config(solver="lp"), small_config(1)):
        shorter = idle.to_document()
        del shorter["yardsticks"]
        assert RunConfig.from_document(shorter) == idle, "where it says nothing, nothing is split"
    before = RunConfig.from_document(document)
    assert before == replace(now, yardsticks=False) and before.pool != now.pool
    assert title_of(before) == title_of(now).replace("share 0.5", "share 0.5; no yardsticks")
    assert "no yardsticks" in before.described()["Hidden opponents' share"]
    assert "yardsticks" not in now.described()["Hidden opponents' share"]
    assert command_of(before) == ""


KNOWS_ROCKS = """from random import choice


class Agent:
    \"\"\"Meets who always throws a rock; against everybody else at random.\"\"\"

    def __init__(self):
        self.rocks = True

    def act(self, observation):
        self.rocks = self.rocks and observation["opponent_action"] in (None, "ROCK")
        return "PAPER" if self.rocks else choice(["ROCK", "PAPER", "SCISSORS"])
"""


def best_first(task: Task, evaluate: Evaluate) -> str:
    """Writes two programs that draw with each other; the other one knows the initial policy."""
    return {"k01": LEARNS.format(name="seldom", noise=0.1), "k02": KNOWS_ROCKS}[task.key]


@pytest.mark.parametrize("yardsticks", [True, False])
def test_a_run_keeps_who_is_strong_where_members_draw(arena: Arena, yardsticks: bool) -> None:
    entered(arena, ROCKS.format(throw="ROCK"), "rocks")
    runs, asked = Runs(arena.home.path), config(yardsticks=yardsticks, initial="test/rocks")
    runs.start("y", asked)
    lineage = Lineage({"run": "y"})
    matches = Matches(arena, game("rrps"))
    found = carry_out(runs, "y", asked, best_first, lambda source: lineage, matches)
    assert len(found.members) == 3
    rule = str(found.sigma.settings["rule"])
    assert (f"{STRANGERS + CREDULOUS} beyond it" in rule) is yardsticks
    if yardsticks:
        assert found.sigma.weights[found.members[1].digest] > 0.9
    assert told(arena.home.path, "y")["final"] == found.sigma


def test_a_run_that_was_interrupted_has_the_same_yardsticks(arena: Arena) -> None:
    asked, runs = config(), Runs(arena.home.path)
    lineage = Lineage({"run": "whole"})

    def ends_early(task: Task, evaluate: Evaluate) -> str:
        if task.key == "k02":
            raise KeyboardInterrupt
        return best_first(task, evaluate)

    for name, oracles in (("whole", [best_first]), ("cut", [ends_early, best_first])):
        runs.start(name, asked)
        for oracle in oracles:
            matches = Matches(arena, game("rrps"))
            with suppress(KeyboardInterrupt):
                carry_out(runs, name, asked, oracle, lambda source: lineage, matches)
    whole, cut = (told(arena.home.path, name) for name in ("whole", "cut"))
    assert whole["final"] is not None
    assert whole["final"] == cut["final"] and whole["iterations"] == cut["iterations"]


def test_their_matches_are_in_no_list_that_people_read(arena: Arena, members: list[Member]) -> None:
    matches = Matches(arena, game("rrps"))
    beyond_members(members, matches, config(), "y")
    (drawn, *_) = matches.yardsticks
    ref = members[1].digest
    assert arena.matches("rrps", ref, against=drawn, limit=None)
    assert not arena.matches("rrps", ref, against=drawn, limit=None, selecting=False)
