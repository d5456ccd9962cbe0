"""Commands that csro prints can be copied: they name the home where it is not the usual one."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from population.cli import main
from population.config import OracleChoice, RunConfig
from population.measuring import Measuring
from population.runs import Runs

CONFIG = RunConfig("leduc", OracleChoice("linear", "grammar"), 1, 1, matches=Measuring(4, 4))


@pytest.fixture
def home(house: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(house, tmp_path / "some where"))


def printed(home: Path, *arguments: str) -> str:
    # A narrow terminal must not break a command in two.
    return CliRunner(env={"COLUMNS": "40"}).invoke(main, [*arguments, "--home", str(home)]).output


def test_a_list_of_no_runs_says_how_to_start_one(home: Path) -> None:
    command = f"csro run --game GAME --home {shlex.quote(str(home))}"
    assert command in printed(home, "list")
    command = command.replace("GAME", "leduc")
    assert f"no runs of leduc yet; start one:  {command}" in printed(
        home, "list", "--game", "leduc"
    )
    assert command in printed(home, "table", "leduc")


def test_where_there_is_nothing_to_show_no_empty_table_stands(home: Path) -> None:
    command = f"csro run --game kuhn --model gemini --home {shlex.quote(str(home))}"
    told = printed(home, "table", "kuhn")
    assert told == f"no finished run of kuhn here yet; start one:  {command}\n"
    assert printed(home, "list", "--game", "kuhn").splitlines() == [
        f"no runs of kuhn yet; start one:  {command}"
    ]


def test_a_list_folds_a_name_and_drops_nothing_of_it(home: Path) -> None:
    Runs(home).start("a-name-that-is-longer-than-its-column", CONFIG)
    column = [line.partition("  ")[0] for line in printed(home, "list").splitlines()]
    assert "a-name-that-is-longer-than-its-column" in "".join(column).replace(" ", "")


def test_a_run_that_is_there_already_says_how_to_go_on(home: Path) -> None:
    Runs(home).start("one", CONFIG)
    told = printed(home, "run", "--game", "leduc", "--name", "one", "--model", "grammar")
    assert f"go on with it: csro resume one --home {shlex.quote(str(home))}" in told


def test_a_report_says_how_to_measure(home: Path) -> None:
    Runs(home).start("one", CONFIG)
    told = printed(home, "report", "one")
    assert f"csro report one --evaluate 100 --home {shlex.quote(str(home))}" in told
