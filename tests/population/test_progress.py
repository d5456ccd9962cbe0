"""Progress bars of a run, as a terminal shows them."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console
from rich.progress import Progress

from arena.analysis.stationary import Ceiling
from oracle.end import End, Ended
from oracle.values import Against, Attempt, Failure, Rejected
from population.cli.progress import Bars
from population.config import RunConfig
from population.records import Effort, Iteration, RunRecord, RunState, Sigma

RECORD = RunRecord(
    "net", RunConfig("leduc", iterations=3), RunState.UNFINISHED, "", datetime.now(UTC)
)


def test_a_bar_of_decisions_is_there_once_a_network_is_trained() -> None:
    screen = io.StringIO()
    with Progress(console=Console(file=screen, force_terminal=True, width=80)) as progress:
        bars = Bars(progress, RECORD)
        bars.begins(2, 3)
        bars.plays(4, 8)
        assert [task.description for task in progress.tasks] == ["net", "matches"]
        bars.learns(640, 2_560)
        bars.learns(1_280, 2_560)
        done = {task.description: (task.completed, task.total) for task in progress.tasks}
    assert done == {"net": (1, 3), "matches": (4, 8), "decisions": (1_280, 2_560)}
    assert "decisions" in screen.getvalue()


def test_a_line_for_each_iteration_has_its_interval(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sigma = Sigma({"aa": 1.0}, 0.0, "nash")
    with Progress(console=Console(file=io.StringIO())) as progress:
        bars = Bars(progress, RECORD)
        bars.ends(Iteration(1, sigma, "bb", 7.0, 2.0, (), Effort(seconds=1.5)))
        bars.ends(Iteration(2, sigma, "", None, None, (), Effort()))
        why = Failure(Rejected.BLOCKED, "the provider\nsays \x1b[31mno" + " again" * 99)
        tried = (Attempt(0, "", "k03/a00", "", None, why, False),)
        bars.ends(Iteration(3, sigma, "", None, None, tried, Effort()))
        parts = (Against("aa", 9.0, 2.0, 40, forfeited=3, weight=0.5),)
        parts = (*parts, Against("cc", 5.0, 2.0, 40, weight=0.5))
        bars.ends(Iteration(4, sigma, "bb", 7.0, 1.5, (), Effort(seconds=1.5), None, parts))
    first, second, third, fourth = capsys.readouterr().err.splitlines()
    assert first == "k =  1  u = +7.0, 95 % [0, 14]  attempts 0, rejected 0, 1.5 s"  # by 12 deals
    told = "k =  4  u = +7.0, 95 % [4, 10] (members forfeited 3 of 80 matches)  attempts 0"
    assert fourth.startswith(told)
    assert second.startswith("k =  2  nothing joins  attempts 0")
    assert "nothing joins (blocked: the provider says [U+001B][31mno again" in third
    assert third.endswith("...)  attempts 1, rejected 1, 0.0 s") and len(third) < 300


def test_a_line_says_why_the_search_ended_where_that_tells_something(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sigma, most = Sigma({"aa": 1.0}, 0.0, "nash"), Ceiling(9.0, 0.5, exact=False, decisions=99)
    ends = (End((Ended.MADE,)), End((Ended.MADE,), most), End((Ended.REACHED,), most))
    with Progress(console=Console(file=io.StringIO())) as progress:
        for end in ends:
            Bars(progress, RECORD).ends(Iteration(1, sigma, "", None, None, (), Effort(), end))
    lines = capsys.readouterr().err.splitlines()
    told = [line.partition("rejected 0")[2] for line in lines]
    bound = "at most +9.0 from who chooses by the situation alone (estimate, standard error 0.5)"
    reached = "ended: an estimate of the most was reached"
    assert told == [", 0.0 s", f", {bound}, 0.0 s", f", {reached}, {bound}, 0.0 s"]
