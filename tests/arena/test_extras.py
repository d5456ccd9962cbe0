"""Advice on packages that are missing works where it is given."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.extras import install_command

ROOT = Path(__file__).resolve().parents[2]


def test_a_checkout_is_installed_from_itself() -> None:
    assert install_command("openai") == (
        f"{shlex.quote(sys.executable)} -m pip install -e {shlex.quote(f'{ROOT}[openai]')}"
    )


def test_an_installed_package_comes_from_the_index(tmp_path: Path) -> None:
    told = install_command("openai", tmp_path, "/usr/bin/python3")
    assert told == "/usr/bin/python3 -m pip install 'policy-arena[openai]'"


def test_the_environment_that_make_made_is_left_to_make(tmp_path: Path) -> None:
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for file in (ROOT / "pyproject.toml", ROOT / "Makefile", *ROOT.glob("requirements*")):
        (folder / file.name).write_text(file.read_text())
    own = str(folder / ".venv" / "bin" / "python")
    told = install_command("rl", folder, own)
    assert shlex.split(told) == ["make", "-C", str(folder), "setup-rl"]
    dry = subprocess.run([*shlex.split(told), "-n"], capture_output=True, text=True, check=True)
    assert ".rl-ready" in dry.stdout  # the target is there
    assert shlex.split(install_command("openai", folder, own))[:3] == [own, "-m", "pip"]
    elsewhere = shlex.split(install_command("rl", folder, "/usr/bin/python3"))
    assert elsewhere[-2:] == ["-e", f"{folder}[rl]"]


@pytest.mark.parametrize("extra", ["openai", "cluster", "rl"])
def test_the_extra_is_one_of_the_package(extra: str) -> None:
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text()
