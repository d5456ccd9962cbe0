"""Limits are kept with a run, and nobody but who works on it changes them."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from population.cli import main
from population.limits import kept
from population.oracles import Spending
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
