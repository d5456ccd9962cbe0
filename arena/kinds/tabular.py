"""Tabular policies: for every information state of a hand, how likely each action is.

The payload is canonical JSON,

    {"game": "leduc", "states": {"J||": [0.0, 0.7, 0.3], "KQ|CC|R": [0.0, 0.4, 0.6], ...}}

A state is named by what its player sees: the ranks of his card and, once it lies open, of the
public one; then the betting before and after the public card, one letter an action.  Whose turn it
is follows from the betting.  The three numbers are the probabilities of FOLD, CALL and RAISE.
There are 288 states, and a payload names all of them.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arena.games.tables import leduc

Probabilities = tuple[float, float, float]
"""Of FOLD, CALL and RAISE."""

GAME = "leduc"
DECIMALS = 9
"""Probabilities are written with so many."""
_TOLERANCE = 1e-6
"""How far a state's probabilities may be from adding up to 1; play scales them."""
_LETTERS = "".join(name[0] for name in leduc.ACTIONS)


def state_key(own: int, public: int | None, node: leduc.Node) -> str:
    """The name of an information state.

    Args:
      own: rank of the player's card, an index into `leduc.RANKS`.
      public: rank of the public card; not looked at before it lies open.
      node: the decision.
    """
    shown = leduc.RANKS[public] if node.public and public is not None else ""
    before, after = ("".join(_LETTERS[action] for action in actions) for actions in node.rounds)
    return f"{leduc.RANKS[own]}{shown}|{before}|{after}"


@functools.cache
def information_states() -> Mapping[str, tuple[int, ...]]:
    """Every state that has a decision, with its legal actions."""
    ranks = range(len(leduc.RANKS))
    return MappingProxyType(
        {
            state_key(own, public, node): node.legal
            for node in leduc.NODES[: leduc.DECISIONS]
            for own in ranks
            for public in (ranks if node.public else (None,))
        }
    )


def payload_of(states: Mapping[str, Probabilities]) -> str:
    """The canonical payload of a table.

    Args:
      states: probabilities for all of `information_states()`.

    Raises:
      ValueError: a state is missing or unknown, or its numbers are no probabilities.
    """
    _check(states)
    rounded = {key: _rounded(states[key]) for key in sorted(states)}
    return json.dumps({"game": GAME, "states": rounded}, sort_keys=True, separators=(",", ":"))


def _rounded(probabilities: Probabilities) -> list[float]:
    """Scaled to add up to 1, with `DECIMALS` decimals; the largest takes up what rounding left."""
    total = sum(probabilities)
    units = [round(p / total * 10**DECIMALS) for p in probabilities]
    units[units.index(max(units))] += 10**DECIMALS - sum(units)
    return [unit / 10**DECIMALS for unit in units]


@functools.lru_cache(maxsize=64)
def states_of(payload: str) -> Mapping[str, Probabilities]:
    """The table in a payload.

    Raises:
      ValueError: it is not the payload of a tabular policy.
    """
    try:
        fields = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"a tabular policy's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {"game", "states"}:
        raise ValueError(f'a tabular payload has "game" and "states", not {payload[:200]}')
    if fields["game"] != GAME:
        raise ValueError(f"tabular policies play {GAME}, not {fields['game']!r}")
    if not isinstance(fields["states"], dict):
        raise ValueError('"states" must map information states to probabilities')
    _check(fields["states"])
    return MappingProxyType({key: (p[0], p[1], p[2]) for key, p in fields["states"].items()})


def _check(states: Mapping[str, Any]) -> None:
    known = information_states()
    missing, unknown = sorted(known.keys() - states.keys()), sorted(states.keys() - known.keys())
    if missing:
        raise ValueError(f"the table lacks {len(missing)} states, such as {missing[:3]}")
    if unknown:
        raise ValueError(f"{len(unknown)} states are none of the game's, such as {unknown[:3]}")
    for key, probabilities in states.items():
        if not _is_distribution(probabilities):
            raise ValueError(
                f"state {key!r} has {probabilities!r}; it takes the probabilities of "
                f"{', '.join(leduc.ACTIONS)}, which add up to 1"
            )
        for action, probability in enumerate(probabilities):
            if probability > 0 and action not in known[key]:
                raise ValueError(f"{leduc.ACTIONS[action]} is not legal in state {key!r}")


def _is_distribution(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == len(leduc.ACTIONS)
        and all(isinstance(p, int | float) and not isinstance(p, bool) for p in value)
        and all(0 <= p <= 1 + _TOLERANCE for p in value)
        and abs(sum(value) - 1) <= _TOLERANCE
    )


@functools.lru_cache(maxsize=64)
def _thresholds(payload: str) -> Mapping[str, tuple[float, float]]:
    """For each state the two points that cut [0, 1) into FOLD, CALL and RAISE."""
    cuts = {}
    for key, (fold, call, rise) in states_of(payload).items():
        total = fold + call + rise
        # An action of probability 0 must never be drawn, so its interval is empty exactly.
        cuts[key] = (
            fold / total if call or rise else 1.0,
            (fold + call) / total if rise else 1.0,
        )
    return cuts


class TabularPolicy:
    """A tabular policy in one seat of one match, behind the game's author contract.

    Args:
      payload: of the policy's version.
      seed: of its random choices.

    Raises:
      ValueError: the payload is not that of a tabular policy.
    """

    def __init__(self, payload: str, seed: int) -> None:
        self._cuts = _thresholds(payload)
        self._uniform = random.Random(seed).random

    def restart(self, player_id: int) -> None:
        """A new hand begins; the observation says everything that this policy asks."""

    def receive_outcome(self, obs: Mapping[str, Any]) -> None:
        """A hand is over; this policy does not learn."""

    def act(self, obs: Mapping[str, Any]) -> str:
        """Draws an action."""
        history = obs["action_history"]
        before = "".join([event["action"][0] for event in history["PREFLOP"]])
        after = "".join([event["action"][0] for event in history["POSTFLOP"]])
        public = obs["public_state"]["public_card"] or ""
        fold, call = self._cuts[f"{obs['player_view']['hand']}{public}|{before}|{after}"]
        drawn = self._uniform()
        return "FOLD" if drawn < fold else "CALL" if drawn < call else "RAISE"


def tabular_policy(payload: str, seed: int) -> TabularPolicy:
    """A `PolicyFactory`: the table that the payload holds, ready for one match.

    Raises:
      ValueError: the payload is not that of a tabular policy.
    """
    return TabularPolicy(payload, seed)
