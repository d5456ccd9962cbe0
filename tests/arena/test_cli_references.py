"""References on the command line: completion in a shell, and what became of a policy."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main

ROOT = Path(__file__).parents[2]


def completed(home, line):
    """What bash is told for the last word of a line, one value each."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ARENA_HOME": str(home),
        "_ARENA_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    code = "from arena.cli import main; main(prog_name='arena')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return [one.partition(",")[2] for one in done.stdout.splitlines() if one]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("arena show --game leduc house/Always", ["house/AlwaysCall@1", "house/AlwaysFold@1"]),
        ("arena evaluate --game leduc house/CFR", ["house/CFR+@1"]),
        ("arena play --game kuhn --only starter/k", ["starter/kuhn@1"]),
        ("arena matches --game leduc --against house/AlwaysC", ["house/AlwaysCall@1"]),
        ("arena leaderboard --game l", ["leduc"]),
        ("arena hist", ["history"]),
        ("arena show --game kuhn house/CFR", []),
    ],
)
def test_a_shell_completes_policies_games_and_commands(home, line, expected):
    assert completed(home, line) == expected


def test_where_there_is_no_home_nothing_is_completed_and_none_is_made(tmp_path):
    assert completed(tmp_path / "none", "arena show house/") == []
    assert not (tmp_path / "none").exists()


def test_a_history_tells_every_status_with_its_reason(home):
    def run(*words):
        done = CliRunner().invoke(main, [*words, "--home", str(home)])
        assert done.exit_code == 0, done.output
        return done.stdout

    ref = "starter/kuhn@1"
    undo = run("yank", ref, "--reason", "[red]too slow[/]").partition("(undo: arena ")[2]
    typed = [*shlex.split(undo.strip().removesuffix(")")), "--reason", "it is faster now"]
    assert CliRunner().invoke(main, typed).exit_code == 0  # it names the home
    told = json.loads(run("history", ref, "--game", "kuhn", "--json"))
    assert told["ref"] == ref
    changes = [(one["status"], one["reason"]) for one in told["history"]]
    assert changes[-2:] == [("yanked", "[red]too slow[/]"), ("qualified", "it is faster now")]
    assert all(one["ref"] == ref for one in told["history"])
    lines = run("history", ref).splitlines()
    assert len(lines) == len(changes)
    assert "yanked" in lines[-2] and lines[-2].endswith("[red]too slow[/]")
    unknown = CliRunner().invoke(main, ["history", "no/body", "--home", str(home)])
    assert unknown.exit_code == 2
