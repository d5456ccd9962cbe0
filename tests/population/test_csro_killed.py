"""Runs that are killed, and runs that share a home, come out as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from arena import Arena
from tests.population.small_run import told

ROOT = Path(__file__).parents[2]


def start(home: Path, name: str, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.population.small_run", str(home), name, str(seed)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def lines_until(process: subprocess.Popen[str], wanted: int) -> list[str]:
    """Reads that many lines, or fewer where it ends before."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if len(lines) == wanted:
            break
    return lines


def test_a_run_that_is_killed_at_several_moments_is_the_same_run(
    finished: Arena, home: Path
) -> None:
    # Before anything is played, in the middle of an evaluation, and after an iteration.
    for lines in (1, 4, 9):
        with start(home, "s1", 1) as process:
            seen = lines_until(process, lines)
            process.kill()
        assert len(seen) == lines
        assert "finished" not in seen
    with start(home, "s1", 1) as process:
        assert lines_until(process, 10_000)[-1] == "finished"
    assert told(home, "s1") == told(finished.home.path, "s1")


def test_two_runs_at_once_do_not_disturb_each_other(finished: Arena, home: Path) -> None:
    with start(home, "s1", 1) as one, start(home, "s2", 2) as other:
        for process in (one, other):
            assert lines_until(process, 10_000)[-1] == "finished"
    for name in ("s1", "s2"):
        assert told(home, name) == told(finished.home.path, name)
