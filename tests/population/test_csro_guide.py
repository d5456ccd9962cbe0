"""What the guide shows is run, and every command and option is in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from population.cli import main

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "csro.md").read_text(encoding="utf-8")


def test_the_oracle_of_the_guide_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    script = tmp_path / "my_oracle.py"
    script.write_text(example)
    for _ in range(2):  # the second time it is finished, and only told again
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "csro/mine@1\n"
    told = CliRunner().invoke(main, ["report", "mine", "--home", str(tmp_path / "arena-home")])
    assert told.exit_code == 0, told.stderr
    assert "mine  shifts, custom, seed 1" in told.stdout


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_is_in_the_guide(name: str) -> None:
    assert f"csro {name}" in GUIDE


def test_every_option_of_the_guide_exists() -> None:
    known = {
        option
        for command in main.commands.values()
        for parameter in command.params
        for option in parameter.opts
    }
    shown = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", GUIDE))
    others = {"--source"}  # of `arena show`
    for name in set(re.findall(r"python (benchmarks/\w+\.py)", GUIDE)):
        others |= set(
            re.findall(r"(?:add_argument|option)\(\s*\"(--[a-z-]+)\"", (ROOT / name).read_text())
        )
    assert shown - others <= known
