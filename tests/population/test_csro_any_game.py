"""A game that the grammar does not know: CSRO needs a model for it, and then nothing else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from arena.games import GAMES
from arena.kinds.mixture import weights_of
from oracle.grammar.genome import GRAMMARS
from population.cli import main
from tests.oracle.llm_server import LLMServer

PROGRAM = '''"""A policy for tests."""
import random


class RepeatedKuhnPokerBot:
    """Bets a card of each rank so often: jack {jack}, queen {queen}, king 1."""

    def restart(self, player_id):
        self.player = player_id

    def act(self, obs):
        often = {{"J": {jack}, "Q": {queen}, "K": 1.0}}[obs["player_view"]["hand"]]
        return "BET" if random.random() < often else "PASS"

    def receive_outcome(self, obs):
        pass
'''
RATES = ((0.3, 0.4), (1.0, 1.0), (0.0, 0.0), (0.6, 0.1))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """A model that writes Kuhn policies, another one each time."""
    rates = itertools.cycle(RATES)

    def answer(prompt: str) -> str:
        jack, queen = next(rates)
        return f"```python\n{PROGRAM.format(jack=jack, queen=queen)}```"

    with LLMServer(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_without_a_model_it_is_a_usage_fault_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    home = tmp_path / "home"
    for words in ((), ("--model", "grammar")):
        done = csro(home, "run", "--game", "kuhn", *words)
        assert done.exit_code == 2
        assert "not of kuhn" in done.stderr and "--model" in done.stderr
        assert not home.exists()


def test_a_run_with_a_model(server: LLMServer, home: Path) -> None:
    words = ("--model", "openai:local", "--price", "0/0", "--oracle", "zero-shot")
    small = ("--iterations", "2", "--payoff-matches", "4", "--evaluation-matches", "8")
    wall = ("--workers", "1", "--sandbox", "process", "--name", "first")
    done = csro(home, "run", "--game", "kuhn", *words, *small, *wall)
    assert done.exit_code == 0, done.stderr
    asked = str(server.asked[0].body)
    for said in ("Repeated Kuhn poker", "RepeatedKuhnPokerBot", "A match has 100 rounds"):
        assert said in asked
    with Arena(home) as arena:
        weights = weights_of(arena.policy("csro/first", "kuhn").payload)
        members = arena.versions(weights).values()
        assert {version.game for version in members} == {"kuhn"}
        assert any(version.name.startswith("csro/first-k0") for version in members)
        assert arena.evaluate("csro/first", "kuhn", 4).scores.agg_score is not None
    report = csro(
        home, "report", "first", "--evaluate", "4", "--steps", "0", "--html", str(home / "r.html")
    )
    assert report.exit_code == 0, report.stderr
    assert "Kuhn" in (home / "r.html").read_text(encoding="utf-8")
    # Nobody published figures of this game.
    table = json.loads(csro(home, "table", "kuhn", "--json").stdout)
    assert table["paper"] == [] and len(table["ours"]) == 1


@pytest.mark.parametrize("game", GAMES)
def test_what_a_model_would_be_asked_is_made_of_the_games_rules(game: str, home: Path) -> None:
    done = csro(home, "prompt", "--game", game, "--model", "gemini", "--json")
    assert done.exit_code == 0, done.stderr
    text = json.dumps(json.loads(done.stdout), ensure_ascii=False)
    for line in GAMES[game].rules.splitlines():
        assert json.dumps(line, ensure_ascii=False)[1:-1].lstrip("#") in text
    assert GAMES[game].contract.class_name in text
    assert set(GRAMMARS) < set(GAMES)
