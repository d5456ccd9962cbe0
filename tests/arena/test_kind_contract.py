"""What holds for every kind of policy: native, tabular, neural, mixture, python, llm.

Each kind is represented in every game that it plays, and meets every other kind there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import Arena
from arena.games import GAMES, Game
from arena.kinds.asked import KIND as ASKED
from arena.kinds.asked import Asked
from arena.kinds.host import FACTORIES, host_policy
from arena.kinds.mixture import payload_of
from registry.values import PolicyVersion, Submission
from tests.arena.at_the_table import at_random, play
from tests.arena.networks import random_payload

KINDS = ("native", "tabular", "neural", "python", "mixture")
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


def networks(game: Game) -> list[Submission]:
    """One, where networks play the game: none comes with it."""
    if game.tensors is None:
        return []
    payload = random_payload(game, 1)
    return [Submission(game=game.name, name="somebody/net", kind="neural", payload=payload)]


def ours(game: Game) -> list[Submission]:
    """The policies that the arena plays itself."""
    return [*game.house(), *networks(game)]


def representatives(arena: Arena, game: Game) -> dict[str, PolicyVersion]:
    """One policy of each kind that plays the game; the mixture has all the others in it."""
    arena.enter(game, networks(game))
    found = {version.kind: version for version in arena.policies(game)}
    weights = {version.digest: 1 / len(found) for version in found.values()}
    mixed = Submission(
        game=game.name, name="somebody/mixed", kind="mixture", payload=payload_of(weights)
    )
    return {**found, "mixture": arena.register(mixed)}


@every_game
def test_every_kind_meets_every_kind(game: Game, arena: Arena) -> None:
    """Matches are over, are scored by the engine, and come out the same again."""
    players = representatives(arena, game)
    assert set(players) <= set(KINDS)
    pairs = {
        (one.digest, other.digest): 2
        for one, other in itertools.combinations_with_replacement(players.values(), 2)
    }
    report = arena.play_pairs(game, pairs)
    assert report.played == 2 * len(pairs)
    assert report.forfeits == 0 and not report.quarantined
    for row in arena.matches(game, limit=None):
        stored = arena.match(row.id)
        assert stored.account.returns == stored.result.returns
        assert len(stored.account.totals) == game.length
        if row.match.repetition == 0:
            assert arena.replay(row.id).same


@every_game
def test_who_is_asked_meets_every_kind(game: Game, new_home: Callable[[], Path]) -> None:
    """Its answers come from elsewhere, so its matches come out the same where those do."""

    def seat(game: Game, payload: str, seed: int) -> Any:
        names: dict[str, Any] = {}
        exec(game.initial, names)  # a program of ours answers in the place of a model
        return names[game.contract.class_name]()

    with Arena(new_home(), sandbox="process", workers=1, asked=Asked(seat, 2)) as arena:
        others = representatives(arena, game)
        asked = arena.register(Submission(game.name, "somebody/asked", ASKED, "model"))
        pairs = {(asked.digest, one.digest): 2 for one in (asked, *others.values())}
        report = arena.play_pairs(game, pairs)
        assert report.played == 2 * len(pairs) and not report.forfeits and not report.quarantined
        for row in arena.matches(game, asked.digest, limit=None):
            stored = arena.match(row.id)
            assert stored.account.returns == stored.result.returns
            assert len(stored.account.totals) == game.length


@every_game
def test_play_follows_from_payload_and_seed_alone(game: Game) -> None:
    """Whoever else plays in this process, and however far."""
    for entrant in {one.kind: one for one in ours(game)}.values():

        def moves(seed: int, crowd: int, entrant: Submission = entrant) -> bytes:
            players = [
                host_policy(game, entrant.kind, entrant.payload, seed + match)
                if seat == 0
                else at_random(game, match)
                for match in range(crowd)
                for seat in (0, 1)
            ]
            return play(game, range(crowd), players).moves(0)

        assert moves(5, 1) == moves(5, 3)


@every_game
@pytest.mark.parametrize("kind", FACTORIES)
def test_a_payload_of_another_kind_or_game_is_refused(game: Game, kind: str) -> None:
    payloads = {
        (one.game, one.kind): one.payload for other in GAMES.values() for one in ours(other)
    }
    plays = (game.name, kind) in payloads
    for (other, of_kind), payload in payloads.items():
        if (other, of_kind) == (game.name, kind):
            host_policy(game, kind, payload, 1)
            continue
        with pytest.raises(ValueError):
            host_policy(game, kind, payload, 1)
    for payload in ("", "[]", "{}", '{"weights":{}}', "class Agent: pass"):
        with pytest.raises(ValueError, match="payload" if plays else "play"):
            host_policy(game, kind, payload, 1)


@every_game
@pytest.mark.parametrize("kind", ["python", "mixture", "quantum", ""])
def test_other_kinds_are_not_played_by_the_arena_itself(game: Game, kind: str) -> None:
    with pytest.raises(ValueError, match="does not play"):
        host_policy(game, kind, "{}", 1)
