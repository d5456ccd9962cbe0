"""`arena games` and `arena rules`: what there is to play, and what an author needs to know."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.games import GAMES, Game
from sandbox.box.allowed import ALLOWED_MODULES

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Runs commands in an empty folder, and returns what they print; they make no home."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, list(words), env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    yield run
    assert not list(tmp_path.iterdir())


def test_every_game_is_listed(printed: Callable[..., str]) -> None:
    listed = json.loads(printed("games", "--json"))["games"]
    assert [one["name"] for one in listed] == list(GAMES)
    for one in listed:
        game = GAMES[one["name"]]
        assert (one["version"], one["length"], one["unit"]) == (
            game.version,
            game.length,
            game.unit,
        )
        assert one["house"] == [entrant.name for entrant in game.house()]
        assert one["population"] == list(game.populations)[-1]
    text = printed("games")
    for game in GAMES.values():
        assert game.title in text and list(game.populations)[-1] in text


@every_game
def test_the_rules_tell_people_everything(game: Game, printed: Callable[..., str]) -> None:
    text = printed("rules", game.name)
    for line in filter(None, game.rules.splitlines()):
        assert line in text
    for fact in (game.contract.class_name, *game.contract.methods, *game.actions):
        assert fact in text
    for fact in ("fractions", "65,536 bytes", "0.5 s a call", "20 s a match", "512 MiB"):
        assert fact in text
    assert str(game.starter.path) in text.replace("\n", "")


@every_game
def test_the_rules_tell_programs_the_same(game: Game, printed: Callable[..., str]) -> None:
    told = json.loads(printed("rules", game.name, "--json"))
    assert (told["rules"], told["class"]) == (game.rules, game.contract.class_name)
    assert told["methods"] == dict(game.contract.methods)
    assert told["actions"] == list(game.actions)
    assert [one["observation"] for one in told["examples"]] == [
        one.observation for one in game.examples
    ]
    assert set(told["imports"]) == ALLOWED_MODULES
    assert told["limits"]["act_seconds"] == 0.5
    assert Path(told["starter"]).read_text(encoding="utf-8") == game.starter.source


def test_a_game_that_is_not_there_is_a_usage_fault() -> None:
    done = CliRunner().invoke(main, ["rules", "chess"])
    assert done.exit_code == 2 and "there is no game 'chess'" in done.stderr
