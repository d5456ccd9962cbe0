"""One hand of a game of hands as arrays over its deals: who decides what, and what it is worth.

The betting does not depend on the cards, so a point is the actions that lead to it, and what
differs from deal to deal at that point is an array.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.games.hand_game import HandGame
from arena.games.parts import InformationStates, Table

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Point(NamedTuple):
    """A point of a hand.

    Attributes:
      actor: player to act; None at an end.
      after: legal action to the number of the point that it leads to; none at an end.
      states: (deals,) number of the information state of the player to act; empty at an end.
      payoffs: (deals,) what player 0 won; empty before the end.
      dealt: so many cards are known to somebody by then.
    """

    actor: int | None
    after: Mapping[int, int]
    states: Places
    payoffs: Floats
    dealt: int


class HandTree:
    """All points of a hand of a game, each after those that lead to it.

    Attributes:
      points: point 0 is where the betting begins.
      place: actions to the number of the point that they lead to.
      states: names of all information states, by number.
      actions: number of actions.
      deals: number of deals, all equally likely.
    """

    def __init__(self, game: HandGame[Any], space: InformationStates) -> None:
        self.states = tuple(space.legal)
        self.actions = len(space.actions)
        self.deals = len(game.deals)
        self._groups = _groups(game.deals)
        number = {name: place for place, name in enumerate(self.states)}
        lines, self.place = [b""], {b"": 0}
        for line in lines:
            for action in game.position(0, line).legal:
                self.place[line + bytes([action])] = len(lines)
                lines.append(line + bytes([action]))
        self.points = tuple(self._point(game, line, number) for line in lines)

    def _point(self, game: HandGame[Any], line: bytes, number: Mapping[str, int]) -> Point:
        here, every = game.position(0, line), range(self.deals)
        dealt = game.cards_dealt(line)
        if here.actor is None:
            won = [(game.position(deal, line).returns or (0, 0))[0] for deal in every]
            return Point(None, {}, np.zeros(0, np.intp), np.array(won, np.float64), dealt)
        states = np.array([number[game.situation(deal, line)] for deal in every], np.intp)
        after = {action: self.place[line + bytes([action])] for action in here.legal}
        return Point(here.actor, after, states, np.zeros(0), dealt)

    def table(self, policy: Table) -> Floats:
        """(states, actions) probabilities of a policy, which names all states."""
        found = np.array([policy[name] for name in self.states], np.float64)
        scaled: Floats = found / found.sum(axis=1, keepdims=True)
        return scaled

    def over_unseen(self, values: Floats, dealt: int) -> Floats:
        """(deals,) the mean over all deals that begin with the same cards, as many as that."""
        group, size = self._groups[dealt]
        means: Floats = (np.bincount(group, values) / size)[group]
        return means


def _groups(deals: tuple[tuple[int, ...], ...]) -> tuple[tuple[Places, Places], ...]:
    """For 0, 1, ... cards: (deals,) which deals begin alike, and how many each group has."""
    found = []
    for count in range(len(deals[0]) + 1):
        _, group = np.unique([_code(deal[:count]) for deal in deals], return_inverse=True)
        group = group.astype(np.intp)
        found.append((group, np.bincount(group)))
    return tuple(found)


def _code(cards: tuple[int, ...]) -> int:
    return functools.reduce(lambda code, card: code * 64 + card, cards, 0)


@functools.lru_cache(maxsize=8)
def hand_tree(game: HandGame[Any], space: InformationStates) -> HandTree:
    """The tree of a game; made once."""
    return HandTree(game, space)
