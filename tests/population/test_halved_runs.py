"""Runs whose early looks are at a sample of the hidden opponents, beside those of before."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest

from arena import Arena, game
from oracle.best_of_n import BestOfN
from oracle.linear_refinement import LinearRefinement
from oracle.values import Score
from population.commands import command_of
from population.comparison import title_of
from population.config import OracleChoice, RunConfig
from population.evaluator import Evaluator, Lineage, sample
from population.hidden import with_hidden
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring, measuring_for
from population.members import Member, task_of
from population.oracles import Spending, workshop
from population.records import Iteration, Sigma
from population.runs import Runs
from tests.population.test_exploit import ROCKS

SHARE = 0.9


@pytest.fixture(autouse=True)
def few_are_credulous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("population.hidden.CREDULOUS", 2)


def config(**options: object) -> RunConfig:
    usual = RunConfig(
        "rrps",
        OracleChoice("best-of-n", "grammar:plain", drafts=4),
        iterations=1,
        matches=measuring_for("rrps", 4, 4, SHARE),
        hidden_share=SHARE,
    )
    return replace(usual, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("sampled", [True, False])
def test_a_quarter_of_the_effort_meets_a_quarter_of_the_hidden(arena: Arena, sampled: bool) -> None:
    starter = arena.policy("starter/rrps", "rrps")
    initial = Member(starter.digest, "initial", starter.payload)
    task = task_of(game("rrps"), config(), [initial], Sigma({initial.digest: 1.0}, 0.0, "nash"), 1)
    matches = Matches(arena, game("rrps"))
    task = with_hidden(task, matches, config(), "r", ())
    hidden = [one.digest for one in task.hidden]
    assert len(hidden) == 8
    evaluate = Evaluator(
        matches, task, "test/x", 4, lambda source: Lineage(), hidden=2, sampled=sampled
    )
    for effort, met in ((0.25, 2), (0.5, 4), (1.0, 8)):
        (score,) = evaluate([ROCKS.format(throw="ROCK")], effort=effort)
        assert isinstance(score, Score)
        wanted = sample(hidden, effort, task.seed) if sampled else hidden
        assert len(wanted) == (met if sampled else 8)
        shown, *others = score.against
        assert shown.digest == initial.digest and [one.digest for one in others] == wanted
        assert all(one.matches == 2 for one in others)
        assert evaluate.needs(effort) == sum(one.matches for one in score.against)
        among = sum(one.mean for one in others) / len(others)
        assert score.u == pytest.approx((1 - SHARE) * shown.mean + SHARE * among)
        assert sum(one.weight or 0.0 for one in score.against) == pytest.approx(1.0)
        apart = SHARE**2 * statistics.variance(one.mean for one in others) / len(others)
        noise = [((one.weight or 0.0) * one.stderr) ** 2 for one in score.against]
        drawn = len(others) / len(hidden)
        sampled_error = (1.0 - drawn) * apart + drawn * sum(noise[1:])
        assert score.stderr == pytest.approx(math.sqrt(noise[0] + sampled_error))
        assert drawn == 1.0 or apart > sum(noise[1:]), "else nothing is seen of it"


def test_independent_drafts_of_a_run_are_halved(arena: Arena) -> None:
    """Each run has its first attempts from the same seed, so both write the same programs."""
    now, before = (finished(arena, f"halving-{told}".lower(), told) for told in (True, False))
    met = [len(one.score.against) for one in now.attempts if one.score]
    assert sorted(met) == [3, 3, 5, 9], "eight hidden ones and sigma's only member"
    assert {len(one.score.against) for one in before.attempts if one.score} == {9}
    (best,) = (one for one in now.attempts if one.kept)
    assert best.score is not None and len(best.score.against) == 9 and not best.score.stopped


def finished(arena: Arena, name: str, halving: bool) -> Iteration:
    """The only iteration of a run."""
    told, runs = config(halving=halving), Runs(arena.home.path)
    record = runs.start(name, told)
    shop = workshop(runs, record, Spending())
    carry_out(runs, name, told, shop.oracle, lambda source: Lineage(), Matches(arena, game("rrps")))
    (iteration,) = runs.iterations(name)
    return iteration


def test_drafts_that_build_on_each_other_race_and_are_not_halved(arena: Arena) -> None:
    runs = Runs(arena.home.path)
    told = {
        "best": config(),
        "step": config(oracle=OracleChoice("linear", "grammar:plain")),
        "shown": config(hidden_share=0.0, matches=Measuring(4, 4)),
        "old": config(halving=False),
    }
    made = {
        name: workshop(runs, runs.start(name, one), Spending()).oracle for name, one in told.items()
    }
    for name, oracle in made.items():
        assert isinstance(oracle, BestOfN | LinearRefinement) and oracle.early_stop is not None
        assert oracle.early_stop.halving == (name == "best")


def test_runs_of_before_are_told_apart_where_it_says_something() -> None:
    now = config()
    assert RunConfig.from_document(now.to_document()) == now
    document = now.to_document()
    del document["halving"]
    before = RunConfig.from_document(document)
    assert before == replace(now, halving=False) and before.pool != now.pool
    assert not before.halves and now.halves
    assert title_of(before) == title_of(now).replace("share 0.9", "share 0.9; no halving")
    assert "no halving" in before.described()["Hidden opponents' share"]
    assert "halving" not in now.described()["Hidden opponents' share"]
    assert command_of(before) == "" and command_of(now)
    shown = config(hidden_share=0.0, matches=Measuring(4, 4))
    shorter = shown.to_document()
    del shorter["halving"]
    assert RunConfig.from_document(shorter) == shown and not shown.halves
    alone = config(oracle=OracleChoice("best-of-n", "grammar:plain", drafts=1))
    assert replace(alone, halving=False).pool == alone.pool, "where nothing is chosen"
