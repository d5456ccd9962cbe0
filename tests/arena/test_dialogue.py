"""How matches are told to a language model: what holds for all games, and how answers are read."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.games import GAMES, Game
from arena.games import game as game_named
from arena.games.parts import Dialogue
from tests.arena.at_the_table import at_random, play

VERSIONS = Path(__file__).with_name("dialogue_versions.json")
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


class Listener:
    """Plays at random and keeps what it would have told a model."""

    def __init__(self, game: Game, seed: int) -> None:
        self.dialogue, self.rng = words(game), random.Random(seed)
        self.past: list[str] = []
        self.asked: list[Mapping[str, Any]] = []

    def restart(self, player_id: int) -> None:
        pass

    def receive_outcome(self, obs: Mapping[str, Any]) -> None:
        self.past.append(self.dialogue.past(obs))

    def act(self, obs: Mapping[str, Any]) -> str:
        self.past.append(self.dialogue.past(obs))
        self.asked.append(obs)
        return self.rng.choice(self.dialogue.legal(obs))


def words(game: Game) -> Dialogue:
    assert game.dialogue is not None
    return game.dialogue


@every_game
def test_a_match_is_told_whole_and_every_legal_word_is_read(game: Game) -> None:
    listener = Listener(game, 1)
    play(game, [5], [listener, at_random(game, 2)])
    dialogue = listener.dialogue
    steps = [line for line in listener.past if line]
    assert len(steps) in (game.length - 1, game.length)  # the last throw is told to nobody
    assert "\n" not in "".join(steps)
    for obs in listener.asked[:50]:
        assert set(dialogue.legal(obs)) <= set(game.actions)
        assert dialogue.read("no idea", obs) is None
        assert dialogue.read("", obs) is None


@every_game
def test_whose_words_change_gets_another_version(game: Game) -> None:
    """An agent plays as it did, or says that it cannot: the version is part of its content."""
    dialogue = words(game)
    told = [dialogue.task, dialogue.again]
    told += [dialogue.past(one.observation) for one in game.examples]
    told += [dialogue.now(one.observation) for one in game.examples if one.method == "act"]
    digest = hashlib.blake2b("\x1f".join(told).encode(), digest_size=16).hexdigest()
    assert json.loads(VERSIONS.read_text())[dialogue.version] == digest


@pytest.mark.parametrize(
    ("answer", "played"),
    [
        ("R P", "SCISSORS"),
        ("P R\nS S", "PAPER"),
        ("`s s`", "ROCK"),
        ("The next line is:\n\nR S", "ROCK"),
        ("A: rock, B: paper", "SCISSORS"),
        ("Rock Scissors.", "ROCK"),
        ("R", None),
        ("RP", None),
        ("They will throw P", None),
        ("R P S", None),
        ("I see a pattern", None),
    ],
)
def test_what_beats_the_throw_that_is_foreseen_is_played(answer: str, played: str | None) -> None:
    dialogue = words(game_named("rrps"))
    assert dialogue.read(answer, {"my_action": None, "opponent_action": None}) == played


@pytest.mark.parametrize(
    ("answer", "legal", "played"),
    [
        ("CALL", ["CALL", "RAISE"], "CALL"),
        ("raise.", ["CALL", "RAISE"], "RAISE"),
        ("**FOLD**", ["FOLD", "CALL"], "FOLD"),
        ("FOLD", ["CALL", "RAISE"], None),
        ("I call, as they never bluff", ["FOLD", "CALL"], "CALL"),
        ("CALL rather than RAISE", ["CALL", "RAISE"], "CALL"),
        ("Either CALL or RAISE", ["CALL", "RAISE"], None),
        ("check", ["CALL", "RAISE"], None),
    ],
)
def test_the_action_that_is_named_is_played(
    answer: str, legal: list[str], played: str | None
) -> None:
    dialogue = words(game_named("leduc"))
    assert dialogue.read(answer, {"player_view": {"legal_actions": legal}}) == played


def test_a_hand_is_told_from_the_players_side() -> None:
    game = game_named("leduc")
    during, after = (one.observation for one in game.examples)
    dialogue = words(game)
    assert dialogue.now(during) == (
        "Now: you are player 1 and hold Q with J open. they CALL, you CALL; then they RAISE. "
        "The pot is 6. Legal: FOLD, CALL, RAISE. Your action?"
    )
    assert dialogue.past(after) == (
        "you were player 1 and held Q with J open, and the other player K. they CALL, you CALL; "
        "then they RAISE, you CALL. You won -5."
    )
    assert "What you write" not in dialogue.task and "FOLD, CALL or RAISE" in dialogue.task
