"""Runs of an oracle that somebody wrote: begun from Python, kept and told like all others."""

from __future__ import annotations

import json
import random
import sqlite3
from dataclasses import dataclass

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from oracle import Draft, Evaluate, LinearRefinement, Task
from population import run_csro
from population.cli import main
from population.errors import RunBusy, RunExists
from population.records import RunState
from population.report.facts import gather
from population.runs import Runs
from tests.population.scripted_oracles import BROKEN, program

SMALL = {"payoff_matches": 4, "evaluation_matches": 8, "iterations": 2, "seed": 3, "name": "own"}


@dataclass
class Random:
    """Offers a random program; where it is told so, it fails in an iteration."""

    family: str = "shifts"

    def __post_init__(self) -> None:
        self.asked: list[str] = []
        self.fails_in = ""

    def respond(self, task: Task, evaluate: Evaluate) -> str:
        self.asked.append(task.key)
        if task.key == self.fails_in:
            raise RuntimeError("a bug of its author's")
        evaluate([BROKEN])
        return program(random.Random(task.seed))


def csro(arena: Arena, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(arena.home.path)])


def test_a_run_is_kept_resumed_and_told_and_stays_finished(arena: Arena) -> None:
    runs, oracle = Runs(arena.home.path), Random()
    oracle.fails_in = "k02"
    with pytest.raises(RuntimeError, match="its author"):
        run_csro(arena, "rrps", oracle, **SMALL)
    assert runs.get("own").state is RunState.UNFINISHED
    resumed = csro(arena, "resume", "own")
    assert resumed.exit_code == 2
    assert "Python code of its author's" in resumed.stderr
    oracle.fails_in = ""
    with runs.working_on("own"), pytest.raises(RunBusy):
        run_csro(arena, "rrps", oracle, **SMALL)
    result = run_csro(arena, "rrps", oracle, **SMALL)
    with runs.working_on("own"):  # which is nobody's concern who only tells what it came to
        assert run_csro(arena, "rrps", oracle, **SMALL) == result
    assert oracle.asked == ["k01", "k02", "k02"]  # what was done is not asked for again
    assert [member.label for member in result.members] == ["initial", "k01", "k02"]
    assert result.mixture.ref == "csro/own@1"

    assert runs.get("own").config.oracle.name == "Random(family='shifts')"
    for one in runs.iterations("own"):
        broken, joined = one.attempts
        assert broken.failure is not None
        assert joined.score is not None
        assert (joined.digest, joined.kept) == (one.accepted, True)
        registered = arena.versions([one.accepted])[one.accepted]
        assert registered.provenance["oracle"] == "Random(family='shifts')"

    # What its programs were made from is not known, and not made up.
    assert {one.parent for one in gather(arena, runs, "own").members} == {""}
    told = json.loads(csro(arena, "report", "own", "--json").stdout)
    assert told["variant"] == "Random(family='shifts'), custom"
    assert [one["attempts"] for one in told["iterations_told"]] == [2, 2]
    assert [one["rejected"] for one in told["iterations_told"]] == [{"faulty": 1}] * 2

    # Finished it is told again and stays so, and what it asked is nobody else's to know.
    again = csro(arena, "resume", "own", "--json")
    assert again.exit_code == 0, again.stderr
    told = json.loads(again.stdout)
    assert told["ref"] == result.mixture.ref
    assert [member["digest"] for member in told["members"]] == [m.digest for m in result.members]
    assert runs.get("own").state is RunState.FINISHED
    shown = csro(arena, "prompt", "--run", "own", "--call", "k01")
    assert shown.exit_code == 2
    assert "nobody else knows what it asks" in shown.stderr


def test_hidden_opponents_are_hidden_from_it(arena: Arena) -> None:
    """They have their share in the score, and in nothing that the oracle is given."""
    given: list[Task] = []

    def curious(task: Task, evaluate: Evaluate) -> str:
        given.append(task)
        return program(random.Random(task.seed))

    run_csro(arena, "rrps", curious, hidden_share=0.5, **{**SMALL, "iterations": 1})
    (task,) = given
    assert task.hidden
    assert not any(one.source for one in task.hidden)
    assert not {one.digest for one in task.hidden} & {one.digest for one in task.others}
    ((attempt,),) = (one.attempts for one in Runs(arena.home.path).iterations("own"))
    assert attempt.score is not None
    assert len(attempt.score.against) > len(task.opponents)


def test_another_oracle_cannot_go_on_with_it(arena: Arena) -> None:
    oracle = Random()
    oracle.fails_in = "k01"
    with pytest.raises(RuntimeError, match="its author"):
        run_csro(arena, "rrps", oracle, **{**SMALL, "iterations": 1})
    with pytest.raises(RunExists, match=r"Random\(family='shifts'\).* there, .*'other'.* here"):
        run_csro(arena, "rrps", Random("other"), **{**SMALL, "iterations": 1})
    with pytest.raises(RunExists, match="iterations is 1 there, 2 here"):
        run_csro(arena, "rrps", Random(), **SMALL)


class Family:
    """Writes programs and nothing else: the search is one of ours."""

    name = "family"

    def write(self, task: Task, draft: Draft) -> Draft:
        return Draft(draft.key, source=program(random.Random(f"{task.seed}/{draft.key}")))


def test_a_run_of_before_goes_on_by_the_rules_that_it_began_with(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command goes on with an oracle of somebody's own, and no argument tells of those rules."""
    monkeypatch.setattr("population.hidden.CREDULOUS", 1)
    oracle, runs, hidden = Random(), Runs(arena.home.path), {"hidden_share": 0.5, **SMALL}
    oracle.fails_in = "k02"
    with pytest.raises(RuntimeError, match="its author"):
        run_csro(arena, "rrps", oracle, **hidden)
    with sqlite3.connect(runs.path) as file:
        (told,) = file.execute("select config from run").fetchone()
        before = json.loads(told)
        del before["yardsticks"], before["matches"]["hidden"]
        file.execute("update run set config = ?", [json.dumps(before)])
    oracle.fails_in = ""
    result = run_csro(arena, "rrps", oracle, **hidden)
    assert len(result.members) == 3
    kept = runs.get("own").config
    assert not kept.yardsticks and kept.matches.hidden == 4
    assert "beyond it" not in str(result.sigma.settings["rule"])
    with pytest.raises(RunExists, match="another configuration"):
        run_csro(arena, "rrps", oracle, **{**hidden, "hidden_share": 0.25})


def test_a_writer_of_ones_own_goes_with_the_variants_that_there_are(arena: Arena) -> None:
    oracle = LinearRefinement(Family(), refinements=2)
    result = run_csro(arena, "rrps", oracle, **{**SMALL, "iterations": 1})
    assert [member.label for member in result.members] == ["initial", "k01"]
    record = Runs(arena.home.path).get("own")
    assert record.config.oracle.name.startswith("LinearRefinement(writer=<")
    assert "refinements=2" in record.config.oracle.name
    again = run_csro(arena, "rrps", LinearRefinement(Family(), 2), **{**SMALL, "iterations": 1})
    assert again.mixture.digest == result.mixture.digest
