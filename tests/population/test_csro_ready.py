"""Before a run stores or plays anything, its model and its sandbox are tried and named."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from population.cli import main
from population.records import RunState
from population.runs import Runs
from tests.oracle.llm_server import LLMServer, Step
from tests.population.scripted_oracles import program

SMALL = ("--game", "rrps", "--oracle", "zero-shot", "--iterations", "1", "--workers", "1")
MATCHES = ("--payoff-matches", "4", "--evaluation-matches", "8", "--sandbox", "process")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """Where GOOGLE_GEMINI_BASE_URL points to."""
    rng = random.Random(3)
    with LLMServer(lambda prompt: f"```python\n{program(rng)}```") as server:
        server.models = ("made-up",)
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        yield server


def run(home: Path, model: str) -> Result:
    options = [*SMALL, *MATCHES, "--model", model, "--name", "ready", "--json"]
    return CliRunner().invoke(main, ["run", *options, "--home", str(home)])


def refused(result: Result, home: Path, kind: str, code: int) -> str:
    """Checks that a run was refused before it began; returns the message."""
    assert result.exit_code == code, result.output
    assert "sandbox" not in result.stderr
    assert Runs(home).all() == ()
    error = json.loads(result.stdout)["error"]
    assert error["kind"] == kind
    return str(error["message"])


def test_a_model_that_the_server_does_not_know(server: LLMServer, home: Path) -> None:
    message = refused(run(home, "gemini:misspelt"), home, "CallRefused", 1)
    assert "gemini:misspelt cannot be asked" in message
    assert "404" in message
    assert server.asked == []


def test_a_key_that_the_server_does_not_take(server: LLMServer, home: Path) -> None:
    server.then_say_of_models(Step(status=403, message="no permission"))
    assert "no permission" in refused(run(home, "gemini:made-up"), home, "CallRefused", 1)


def test_a_server_that_is_not_there(
    server: LLMServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    message = refused(run(home, "gemini:made-up"), home, "ModelUnavailable", 1)
    assert "cannot be reached" in message


def test_a_missing_key(server: LLMServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    message = refused(run(home, "gemini:made-up"), home, "MissingKey", 2)
    assert "GEMINI_API_KEY" in message


def test_model_and_sandbox_are_named_and_a_finished_run_needs_neither(
    server: LLMServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(home, "gemini:made-up")
    assert done.exit_code == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == "model: gemini:made-up"
    assert "price is not known" in lines[1]
    assert lines[2].startswith("sandbox: process")
    walls = json.loads(done.stdout)["walls"]
    assert sum(walls.values()) == 16  # 8 to choose by, and 8 others for u
    for wall, number in walls.items():
        assert wall.startswith("process")
        assert f"{number} matches played behind: {wall}" in lines
    assert len(server.charged) == 1

    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    again = CliRunner().invoke(main, ["resume", "ready", "--home", str(home)])
    assert again.exit_code == 0, again.stderr
    assert "sandbox" not in again.stderr
    assert Runs(home).get("ready").state is RunState.FINISHED


def test_a_run_that_goes_on_is_tried_again(
    server: LLMServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(Step(status=402, message="the bill is not paid"))
    assert run(home, "gemini:made-up").exit_code == 1
    asked = len(server.asked)
    server.models = ()
    again = CliRunner().invoke(main, ["resume", "ready", "--home", str(home)])
    assert again.exit_code == 1
    assert "gemini:made-up cannot be asked" in again.stderr
    assert len(server.asked) == asked
