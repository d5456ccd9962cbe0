"""What the README shows is run, and what there is, is in the README."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import main
from population.cli import main as csro

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_is_in_the_readme(command):
    assert f"arena {command}" in README


@pytest.mark.parametrize("command", sorted(csro.commands))
def test_every_csro_command_is_in_the_readme(command):
    assert f"csro {command}" in README


def test_the_readme_policy_is_accepted(tmp_path):
    (policy,) = [block for block in PYTHON if "class Agent" in block]
    file = tmp_path / "bot.py"
    file.write_text(policy)
    words = ["check", str(file), "--game", "rrps", "--sandbox", "process"]
    run = subprocess.run(
        [sys.executable, "-m", "arena", *words, "--home", str(tmp_path / "home")],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_readme_library_example_runs(tmp_path):
    (example,) = [block for block in PYTHON if "import Arena" in block]
    script = tmp_path / "example.py"
    script.write_text(example)
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stderr
    assert "house/CFR+@1" in run.stdout


def test_make_targets_that_the_readme_names_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.M):
        assert f"\n{target}:" in makefile


def test_links_lead_somewhere():
    documents = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (ROOT / target).exists(), f"{document.name}: {target}"
