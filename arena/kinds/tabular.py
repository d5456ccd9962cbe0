"""Tabular policies: for every information state of a hand, how likely each action is.

The payload is canonical JSON, such as

    {"game": "leduc", "states": {"J||": [0.0, 0.7, 0.3], "KQ|CC|R": [0.0, 0.4, 0.6], ...}}

The game says which states there are and how they are called (`Game.states`), and a payload names
all of them.  The numbers are the probabilities of the game's actions, in their order.
"""

from __future__ import annotations

import functools
import json
import random
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # games have tabular policies in their house
    from arena.games.parts import InformationStates
    from arena.games.protocol import Game

Probabilities = tuple[float, ...]
"""One for each action, by number."""

DECIMALS = 9
"""Probabilities are written with so many."""
_TOLERANCE = 1e-6
"""How far a state's probabilities may be from adding up to 1; play scales them."""


def payload_of(space: InformationStates, states: Mapping[str, Probabilities]) -> str:
    """The canonical payload of a table.

    Args:
      space: of the game.
      states: probabilities for all of `space.legal`.

    Raises:
      ValueError: a state is missing or unknown, or its numbers are no probabilities.
    """
    _check(space, states)
    rounded = {key: _rounded(states[key]) for key in sorted(states)}
    document = {"game": space.game, "states": rounded}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def pure(space: InformationStates, action: int) -> Probabilities:
    """The probabilities of one action taken for certain."""
    return tuple(float(action == number) for number in range(len(space.actions)))


def _rounded(probabilities: Probabilities) -> list[float]:
    """Scaled to add up to 1, with `DECIMALS` decimals; the largest takes up what rounding left."""
    total = sum(probabilities)
    units = [round(p / total * 10**DECIMALS) for p in probabilities]
    units[units.index(max(units))] += 10**DECIMALS - sum(units)
    return [unit / 10**DECIMALS for unit in units]


@functools.lru_cache(maxsize=64)
def states_of(space: InformationStates, payload: str) -> Mapping[str, Probabilities]:
    """The table in a payload.

    Raises:
      ValueError: it is not the payload of a tabular policy of this game.
    """
    try:
        fields = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"a tabular policy's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {"game", "states"}:
        raise ValueError(f'a tabular payload has "game" and "states", not {payload[:200]}')
    if fields["game"] != space.game:
        raise ValueError(f"this is to play {space.game}, and plays {fields['game']!r}")
    if not isinstance(fields["states"], dict):
        raise ValueError('"states" must map information states to probabilities')
    _check(space, fields["states"])
    return MappingProxyType({key: tuple(p) for key, p in fields["states"].items()})


def _check(space: InformationStates, states: Mapping[str, Any]) -> None:
    known = space.legal
    missing, unknown = sorted(known.keys() - states.keys()), sorted(states.keys() - known.keys())
    if missing:
        raise ValueError(f"the table lacks {len(missing)} states, such as {missing[:3]}")
    if unknown:
        raise ValueError(f"{len(unknown)} states are none of the game's, such as {unknown[:3]}")
    for key, probabilities in states.items():
        if not _is_distribution(probabilities, len(space.actions)):
            raise ValueError(
                f"state {key!r} has {probabilities!r}; it takes the probabilities of "
                f"{', '.join(space.actions)}, which add up to 1"
            )
        for action, probability in enumerate(probabilities):
            if probability > 0 and action not in known[key]:
                raise ValueError(f"{space.actions[action]} is not legal in state {key!r}")


def _is_distribution(value: Any, length: int) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == length
        and all(isinstance(p, int | float) and not isinstance(p, bool) for p in value)
        and all(0 <= p <= 1 + _TOLERANCE for p in value)
        and abs(sum(value) - 1) <= _TOLERANCE
    )


@functools.lru_cache(maxsize=64)
def _cuts(space: InformationStates, payload: str) -> Mapping[str, tuple[float, ...]]:
    """For each state the points that cut [0, 1) into the actions, in their order."""
    cuts = {}
    for key, probabilities in states_of(space, payload).items():
        *below, total = accumulate(probabilities)
        # An action of probability 0 must never be drawn, so its interval is empty exactly.
        cuts[key] = tuple(
            point / total if any(probabilities[action:]) else 1.0
            for action, point in enumerate(below, 1)
        )
    return cuts


class TabularPolicy:
    """A tabular policy in one seat of one match, behind the author contract of a game of hands.

    Args:
      space: of the game.
      payload: of the policy's version.
      seed: of its random choices.

    Raises:
      ValueError: the payload is not that of a tabular policy of this game.
    """

    def __init__(self, space: InformationStates, payload: str, seed: int) -> None:
        self._cuts = _cuts(space, payload)
        self._state, self._actions = space.observed, space.actions
        self._uniform = random.Random(seed).random

    def restart(self, player_id: int) -> None:
        """A new hand begins; the observation says everything that this policy asks."""

    def receive_outcome(self, obs: Mapping[str, Any]) -> None:
        """A hand is over; this policy does not learn."""

    def act(self, obs: Mapping[str, Any]) -> str:
        """Draws an action."""
        return self._actions[bisect_right(self._cuts[self._state(obs)], self._uniform())]


def tabular_policy(game: Game, payload: str, seed: int) -> TabularPolicy:
    """A `PolicyFactory`: the table that the payload holds, ready for one match.

    Raises:
      ValueError: the payload is not that of a tabular policy of this game.
    """
    if game.states is None:
        raise ValueError(f"no tabular policies play {game.name}")
    return TabularPolicy(game.states, payload, seed)
