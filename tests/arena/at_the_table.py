"""Policies at a game's table in this process: nothing is sealed, whatever the game is."""

from __future__ import annotations

import copy
import importlib.util
import random
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from arena.games import Game, Seat, Table

IDLE = 254
"""First byte of a message that asks for nothing."""


class ScriptEnds(Exception):
    """Somebody was asked for more moves than were to be played."""


class Author:
    """An author's class of any game: plays by a function of the observation, and remembers."""

    def __init__(self, game: Game, choose: Callable[[Any], Any]) -> None:
        self.heard: list[tuple[str, Any]] = []
        self._choose = choose
        for method in game.contract.methods:
            if method != "act":
                setattr(self, method, self._listener(method))

    def _listener(self, method: str) -> Callable[[Any], None]:
        return lambda told: self.heard.append((method, copy.deepcopy(told)))

    def act(self, observation: Any) -> Any:
        self.heard.append(("act", copy.deepcopy(observation)))
        return self._choose(observation)


def legal_in(game: Game, observation: Any) -> list[str]:
    """Names of the actions that are legal where a player sees that."""
    if game.states is None:
        return list(game.actions)
    legal = game.states.legal[game.states.observed(observation)]
    return [game.actions[action] for action in legal]


def at_random(game: Game, seed: int) -> Author:
    """Any legal action."""
    rng = random.Random(seed)
    return Author(game, lambda seen: rng.choice(legal_in(game, seen)))


def module_of(game: Game) -> ModuleType:
    """The game's table as a box loads it: from its file, and knowing nobody."""
    spec = importlib.util.spec_from_file_location(f"table_of_{game.name}", game.table_path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def messages_of(table: Table, seats: int = 2) -> list[bytes]:
    """The message to each flat seat."""
    together = table.messages()
    size = len(together) // seats
    return [together[number * size : (number + 1) * size] for number in range(seats)]


def asked(table: Table) -> list[int]:
    """The seats of the only match that are asked for something."""
    return [seat for seat, message in enumerate(messages_of(table)) if message[0] != IDLE]


def replies_of(table: Table, seats: Sequence[Seat]) -> list[int]:
    """One reply of each flat seat."""
    messages = messages_of(table, len(seats))
    return [seat.reply(message) for seat, message in zip(seats, messages, strict=True)]


def play(game: Game, deal_seeds: Sequence[int], policies: Sequence[Any]) -> Table:
    """Whole matches; match m is between policies 2m and 2m + 1."""
    table, seats = game.table(deal_seeds), [game.seat(policy) for policy in policies]
    while not table.done:
        table.advance(bytes(replies_of(table, seats)))
    return table


def record(game: Game, deal_seed: int, luck: int) -> bytes:
    """The moves of a whole match between two who play at random."""
    table = play(game, [deal_seed], [at_random(game, 2 * luck), at_random(game, 2 * luck + 1)])
    assert table.fault(0) is None
    return table.moves(0)


def scripted(game: Game, deal_seed: int, moves: bytes) -> tuple[Author, Author]:
    """Plays those moves, and asks once more; what both seats heard until then is in them."""
    script = iter(moves)

    def choose(_: Any) -> str:
        for move in script:
            return game.actions[move]
        raise ScriptEnds

    authors = (Author(game, choose), Author(game, choose))
    table, seats = game.table([deal_seed]), [game.seat(author) for author in authors]
    ended = False
    while not ended and not table.done:
        replies = []
        for seat, message in zip(seats, messages_of(table), strict=True):
            try:
                replies.append(seat.reply(message))
            except ScriptEnds:
                ended = True
        if not ended:
            table.advance(bytes(replies))
    return authors
