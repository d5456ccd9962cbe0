"""The starter policies and the examples for authors: they load, play whole matches, and win."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.games import Game, game
from arena.games.rrps.bots import NativeAgent

EXAMPLES = Path(__file__).parents[2] / "examples"
RRPS_FILES = (game("rrps").starter.path, EXAMPLES / "rrps_patterns.py")
LEDUC_FILES = (game("leduc").starter.path, EXAMPLES / "leduc_counter.py")


def author_policy(one: Game, path: Path, seed: int) -> Any:
    """An instance of an author's class, in a namespace of its own, its randomness seeded."""
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    namespace["random"] = random.Random(seed)
    return namespace[one.contract.class_name]()


def mean_return(one: Game, path: Path, opponent: Callable[[int], Any], matches: int) -> float:
    """Mean return of the policy in `path`; seats swap, and nobody may be at fault."""
    total = 0.0
    for number in range(matches):
        ours = number % 2
        players = [author_policy(one, path, number), opponent(number)]
        table, deal_seed = one.table([number // 2]), number // 2
        seats = [one.seat(players[seat ^ ours]) for seat in (0, 1)]
        while not table.done:
            messages = table.messages()
            size = len(messages) // 2
            parts = (messages[:size], messages[size:])
            table.advance(bytes(seat.reply(part) for seat, part in zip(seats, parts, strict=True)))
        assert table.fault(0) is None
        total += one.score(deal_seed, table.moves(0), None)[ours]
    return total / matches


@pytest.mark.parametrize("path", RRPS_FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    ("bot", "at_least"), [("rotatebot", 900), ("copybot", 900), ("switchbot", 100), ("boom", -60)]
)
def test_rrps_policies_play_decently(path: Path, bot: str, at_least: float) -> None:
    rrps = game("rrps")
    assert mean_return(rrps, path, lambda seed: NativeAgent(bot, seed), 4) > at_least


class AlwaysCall:
    """The calling station."""

    def restart(self, player_id: int) -> None: ...

    def act(self, observation: dict[str, Any]) -> str:
        return "CALL"

    def receive_outcome(self, observation: dict[str, Any]) -> None: ...


class AlwaysFold(AlwaysCall):
    """Gives in to every raise."""

    def act(self, observation: dict[str, Any]) -> str:
        legal = observation["player_view"]["legal_actions"]
        return "FOLD" if "FOLD" in legal else "CALL"


@pytest.mark.parametrize("path", LEDUC_FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize(("opponent", "at_least"), [(AlwaysCall, 100), (AlwaysFold, 85)])
def test_leduc_policies_play_decently(
    path: Path, opponent: type[AlwaysCall], at_least: float
) -> None:
    """The best that can be had is 146.67 against AlwaysCall and 100 against AlwaysFold."""
    assert mean_return(game("leduc"), path, lambda _: opponent(), 24) > at_least


class AlwaysBet(AlwaysCall):
    """Bets whatever it holds, and calls whatever is bet."""

    def act(self, observation: dict[str, Any]) -> str:
        return "BET"


class AlwaysPass(AlwaysCall):
    """Never puts a chip into the pot after its ante."""

    def act(self, observation: dict[str, Any]) -> str:
        return "PASS"


@pytest.mark.parametrize(("opponent", "at_least"), [(AlwaysBet, 25), (AlwaysPass, 50)])
def test_the_kuhn_starter_plays_decently(opponent: type[AlwaysCall], at_least: float) -> None:
    """The best that can be had is 33.33 against AlwaysBet and 100 against AlwaysPass."""
    kuhn = game("kuhn")
    assert mean_return(kuhn, kuhn.starter.path, lambda _: opponent(), 24) > at_least
