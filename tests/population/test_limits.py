"""Limits are kept with a run, and nobody but who works on it changes them."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from population.cli import main
from population.limits import kept
from population.oracles import Spending
from population.records import RunState
from population.runs import Runs


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_who_is_refused_as_another_is_at_work_changes_no_limits(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"text": "no program"}\n')
    home = tmp_path / "home"
    wall = ("--sandbox", "process", "--workers", "1")
    what = ("--game", "rrps", "--model", f"recorded:{answers}", "--iterations", "1")
    words = ("run", *what, "--name", "paid", *wall)
    csro(home, *words, "--max-calls", "1")
    runs = Runs(home)
    assert kept(runs, "paid", Spending()).max_calls == 1
    with runs.working_on("paid"):
        for refused in (words, ("resume", "paid", *wall, "--max-calls", "1_000")):
            told = csro(home, *refused)
            assert told.exit_code == 1, told.output
            assert "another process is working on the run 'paid'" in told.stderr
            assert kept(runs, "paid", Spending()).max_calls == 1
    csro(home, "resume", "paid", *wall, "--max-calls", "2")
    assert kept(runs, "paid", Spending()).max_calls == 2


def test_who_types_the_same_again_keeps_to_the_limits_of_before(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"text": "no program"}\n')
    home = tmp_path / "home"
    words = ("run", "--game", "rrps", "--model", f"recorded:{answers}", "--iterations", "1")
    words += ("--name", "paid", "--sandbox", "process", "--workers", "1")
    csro(home, *words, "--max-calls", "1", "--max-cost", "3")
    told = csro(home, *words, "--max-cost", "5")
    assert "limits and price that hold" in told.stderr
    assert "limit of 1 calls is reached" in told.stderr
    assert kept(Runs(home), "paid", Spending()) == Spending(max_calls=1, max_cost=5.0)


def test_a_finished_run_is_only_told_again(tmp_path: Path) -> None:
    """Whatever has happened to its model since: it stays finished."""
    answers, home = tmp_path / "answers.jsonl", tmp_path / "home"
    answers.write_text('{"text": "no program"}\n' * 40)
    words = ("run", "--game", "rrps", "--oracle", "zero-shot", "--model", f"recorded:{answers}")
    words += ("--iterations", "1", "--name", "done", "--sandbox", "process", "--workers", "1")
    first = csro(home, *words)
    assert first.exit_code == 0, first.output
    assert Runs(home).get("done").state is RunState.FINISHED
    answers.unlink()
    again = csro(home, *words)
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert Runs(home).get("done").state is RunState.FINISHED
