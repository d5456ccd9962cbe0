"""A run stays what it began with, whatever its initial policy's name means later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena, game
from arena.enrol import Enrolled
from arena.errors import UsageFault
from oracle import Evaluate, Task
from population import run_csro
from population.cli import main
from population.commands import command_of
from population.comparison import our_rows, title_of
from population.config import OracleChoice, RunConfig
from population.csro import Csro
from population.errors import RunExists
from population.logbook import Found
from population.members import Member, initial_member, settled
from population.runs import Runs
from tests.population.test_reproduction import finished as measured_run

ECHO = '''class Agent:
    """Version {number}: throws what the other threw last."""

    def act(self, observation):
        return observation["opponent_action"] or "ROCK"
'''
FEW = ("--payoff-matches", "4", "--evaluation-matches", "4", "--sandbox", "process")
BEGINS = ("run", "--game", "rrps", "--model", "grammar:plain", "--oracle", "zero-shot")
RUN = (*BEGINS, "--name", "r", "--iterations", "2", "--initial", "ada/echo", *FEW, "--workers", "1")


def submitted(home: Path, number: int) -> str:
    """Digest of a version of ada/echo, handed in."""
    with Arena(home, sandbox="process", workers=1) as arena:
        entered = arena.submit(ECHO.format(number=number), "rrps", "ada/echo")
    assert isinstance(entered, Enrolled) and entered.version.ref == f"ada/echo@{number}"
    return entered.version.digest


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


@pytest.fixture
def killed(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A home with a run from ada/echo@1 that was killed after k = 1; and that version's digest."""
    first, whole = submitted(home, 1), Csro.step

    def killed_later(self: Csro, k: int, members: Sequence[Member]) -> Found:
        if k == 2:
            raise KeyboardInterrupt
        return whole(self, k, members)

    with monkeypatch.context() as until:
        until.setattr(Csro, "step", killed_later)
        assert csro(home, *RUN).exit_code != 0
    assert Runs(home).done("r") == 1
    return home, first


def as_before(home: Path, words: str = "ada/echo") -> None:
    """Leaves the run as an earlier program stored it: with the words that were given alone."""
    with sqlite3.connect(Runs(home).path) as file:
        (told,) = file.execute("select config from run where name = 'r'").fetchone()
        before = {**json.loads(told), "initial": words}
        before.pop("begins", None)
        file.execute("update run set config = ? where name = 'r'", [json.dumps(before)])
    file.close()


@pytest.mark.parametrize("stored_before", [False, True])
def test_a_resumed_run_keeps_the_version_that_it_began_with(
    killed: tuple[Path, str], stored_before: bool
) -> None:
    home, first = killed
    if stored_before:
        as_before(home)
    submitted(home, 2)
    assert csro(home, "resume", "r", *FEW[4:], "--workers", "1").exit_code == 0
    record = Runs(home).get("r")
    assert record.initial == record.config.begins == first
    assert record.final is not None and next(iter(record.final.weights)) == first
    told = record.config.described()["Initial policy"]
    assert told == (f"ada/echo ({first[:12]})" if stored_before else "ada/echo@1")
    again = first if stored_before else "ada/echo@1"
    assert f"--initial {again} " in f"{command_of(record.config)} "


def test_the_same_command_says_that_the_name_means_another_version_now(
    killed: tuple[Path, str],
) -> None:
    home, first = killed
    second = submitted(home, 2)
    refused = csro(home, *RUN)
    assert refused.exit_code != 0
    assert "initial is 'ada/echo@1' there, 'ada/echo@2' here" in refused.stderr
    assert first not in refused.stderr and second not in refused.stderr
    assert "csro resume r" in refused.stderr
    as_before(home)
    refused = csro(home, *RUN)
    assert f"initial is 'ada/echo ({first[:12]})' there, 'ada/echo@2' here" in refused.stderr
    assert Runs(home).get("r").initial == first, "nothing was changed"
    numbered = [{"ada/echo": "ada/echo@1"}.get(word, word) for word in RUN]
    assert csro(home, *numbered).exit_code == 0
    seeded = csro(home, *numbered, "--seed", "2")
    assert "seed is 0 there, 2 here" in seeded.stderr and "initial" not in seeded.stderr


def test_a_withdrawn_version_is_played_on_by_who_began_with_it(killed: tuple[Path, str]) -> None:
    home, first = killed
    submitted(home, 2)
    with Arena(home) as arena:
        arena.withdraw("ada/echo@1", "rrps", reason="handed in by mistake")
    assert csro(home, "resume", "r", *FEW[4:], "--workers", "1").exit_code == 0
    assert Runs(home).get("r").initial == first


def test_a_version_whose_content_is_not_shown_ends_with_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(home, 1)
    with Arena(home) as arena:
        version = replace(arena.policy("ada/echo", "rrps"), payload="")  # as a server answers
        monkeypatch.setattr(Arena, "policy", lambda self, ref, game: version)
        config = RunConfig("rrps", initial="ada/echo@1")
        with pytest.raises(UsageFault, match=r"ada/echo@1 was withdrawn.*arena reinstate"):
            initial_member(arena, game("rrps"), config, version.digest)


def test_tables_keep_apart_runs_of_different_versions(home: Path) -> None:
    found, rrps = [], game("rrps")
    told = RunConfig("rrps", OracleChoice("zero-shot", "grammar"), 2, initial="ada/echo")
    for number in (1, 2):
        submitted(home, number)
        with Arena(home) as arena:
            config = settled(arena, rrps, replace(told, seed=number))
            assert settled(arena, rrps, config) == config
        found.append(measured_run(config, 10.0 * number, f"r{number}"))
        # An earlier program kept the name alone, and the digest beside it.
        before = replace(config, initial="ada/echo", seed=number + 2)
        found.append(measured_run(before, 10.0 * number, f"b{number}"))
    assert len({record.config.pool for record, _ in found}) == 2
    for _, known in found:
        known.digests = ()
    rows = {row.runs: row for row in our_rows(found)}
    assert set(rows) == {("r1", "b1"), ("r2", "b2")}
    assert [rows[runs].seeds for runs in sorted(rows)] == [(1, 3), (2, 4)]
    titles = [title_of(record.config) for record, _ in found]
    assert "from ada/echo@1" in titles[0] and "from ada/echo@2" in titles[2]
    assert len({title_of(record.config) for record, _ in found}) == 4
    assert f"from ada/echo ({found[1][0].config.begins[:12]})" in titles[1]


def test_a_run_from_python_is_settled_too(home: Path) -> None:
    submitted(home, 1)
    own = {"name": "own", "iterations": 1, "payoff_matches": 4, "evaluation_matches": 4}

    def fails(task: Task, evaluate: Evaluate) -> str:
        raise RuntimeError("a bug")

    with Arena(home, sandbox="process", workers=1) as arena:
        with pytest.raises(RuntimeError, match="a bug"):
            run_csro(arena, "rrps", fails, initial="ada/echo", **own)
        assert Runs(home).get("own").config.initial == "ada/echo@1"
    submitted(home, 2)
    with Arena(home, sandbox="process", workers=1) as arena:
        with pytest.raises(RunExists, match="'ada/echo@1' there, 'ada/echo@2' here"):
            run_csro(arena, "rrps", fails, initial="ada/echo", **own)
        with pytest.raises(RuntimeError, match="a bug"):
            run_csro(arena, "rrps", fails, initial="ada/echo@1", **own)


def test_a_run_goes_on_from_the_built_in_policy_of_its_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later program may have another one."""
    rrps = game("rrps")
    with Arena(home, sandbox="process", workers=1) as arena:
        first = initial_member(arena, rrps, RunConfig("rrps"))
        monkeypatch.setattr(type(rrps), "initial", property(lambda self: ECHO))
        again = initial_member(arena, rrps, RunConfig("rrps"), first.digest)
    assert again == first
