"""Exact values of tabular Leduc policies, from a walk over all deals and betting lines.

Every payoff is the engine's.  Suits do not matter, so that the 120 ordered deals fold into 24 of
ranks; a walk carries an array over these, one entry a deal.

Values are in chips: per hand where a function says so, else per match of 100 hands in which the
players change places every hand, as the arena plays them.  Exploitability and NashConv as in
M. Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning"
(NeurIPS 2017), section 2: NashConv is the sum over players of what each gains by a best response,
exploitability is NashConv / 2.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.games.leduc import LEDUC, position
from arena.games.tables import leduc as tables
from arena.kinds.tabular import Probabilities, information_states, state_key

States = Mapping[str, Probabilities]
"""A tabular policy: information state to the probabilities of FOLD, CALL and RAISE."""
Floats = npt.NDArray[np.float64]


class BestResponse(NamedTuple):
    """A best response of one player.

    Attributes:
      value: what it wins per hand.
      states: the actions that it takes, in that player's information states.
    """

    value: float
    states: dict[str, Probabilities]


class _Deals(NamedTuple):
    """Deals of ranks: a deal of cards for each, the ranks, and how likely it is."""

    of_cards: tuple[int, ...]
    ranks: npt.NDArray[np.int64]
    chance: Floats


@functools.cache
def _deals() -> _Deals:
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, cards in enumerate(tables.DEALS):
        groups.setdefault(tuple(tables.rank_of(card) for card in cards), []).append(index)
    return _Deals(
        of_cards=tuple(group[0] for group in groups.values()),
        ranks=np.array(list(groups)),
        chance=np.array([len(group) / len(tables.DEALS) for group in groups.values()]),
    )


def _actions(node: tables.Node) -> bytes:
    return bytes((*node.rounds[0], *node.rounds[1]))


@functools.cache
def _payoffs(node: tables.Node) -> Floats:
    """(deals,), what player 0 wins at that end, by the engine."""
    ends = [position(deal, _actions(node)).returns for deal in _deals().of_cards]
    return np.array([end[0] for end in ends if end is not None], dtype=np.float64)


@functools.cache
def _keys(node: tables.Node) -> tuple[str, ...]:
    """(deals,), the information state that the player to act is in."""
    return tuple(
        state_key(int(ranks[node.actor or 0]), int(ranks[2]), node) for ranks in _deals().ranks
    )


def _children(node: tables.Node) -> Iterator[tuple[int, tables.Node]]:
    for action in node.legal:
        yield action, tables.NODES[tables.NODE_AFTER[tables.line_after(node, action)]]


def _probabilities(states: States, node: tables.Node) -> Floats:
    """(deals, 3), of the actions at that decision."""
    return np.array([states[key] for key in _keys(node)], dtype=np.float64)


def hand_value(first: States, second: States) -> float:
    """What player 0 wins per hand, in chips, when players 0 and 1 play these tables."""

    def walk(node: tables.Node, reach: Floats) -> float:
        if node.actor is None:
            return float(reach @ _payoffs(node))
        chosen = _probabilities((first, second)[node.actor], node)
        return sum(walk(child, reach * chosen[:, action]) for action, child in _children(node))

    return walk(tables.NODES[0], _deals().chance)


def hand_best_response(player: int, against: States) -> BestResponse:
    """The best response of one player of a hand.

    The walk returns, for each deal, what the responder wins, weighted by how likely chance and
    the opponent lead there; a decision takes the best action for the sum over the deals that
    the responder cannot tell apart.

    Args:
      player: the responder, 0 or 1.
      against: what the other player plays.
    """
    answer: dict[str, Probabilities] = {}
    sign = 1.0 if player == 0 else -1.0

    def walk(node: tables.Node, reach: Floats) -> Floats:
        if node.actor is None:
            return sign * reach * _payoffs(node)
        if node.actor != player:
            chosen = _probabilities(against, node)
            total = np.zeros_like(reach)
            for action, child in _children(node):
                total += walk(child, reach * chosen[:, action])
            return total
        values = {action: walk(child, reach) for action, child in _children(node)}
        best = np.zeros_like(reach)
        keys = np.array(_keys(node))
        for key in set(_keys(node)):
            alike = keys == key
            action = max(values, key=lambda option: float(values[option][alike].sum()))
            best[alike] = values[action][alike]
            answer[key] = (float(action == 0), float(action == 1), float(action == 2))
        return best

    value = float(walk(tables.NODES[0], _deals().chance).sum())
    return BestResponse(value, answer)


def match_value(one: States, other: States) -> float:
    """What `one` wins against `other` per match, in chips, positions averaged."""
    return LEDUC.length * (hand_value(one, other) - hand_value(other, one)) / 2


def best_response(against: States) -> dict[str, Probabilities]:
    """A table for both positions that wins the most a hand against this one."""
    found = {
        **hand_best_response(0, against).states,
        **hand_best_response(1, against).states,
    }
    return {key: found[key] for key in information_states()}


def best_response_value(against: States) -> float:
    """What a best response wins per match, in chips, positions averaged."""
    return LEDUC.length * exploitability(against)


def nash_conv(states: States) -> float:
    """NashConv of the profile in which both players play this table, in chips per hand."""
    # The hand is zero-sum, so what the players win when nobody deviates cancels out.
    return hand_best_response(0, states).value + hand_best_response(1, states).value


def exploitability(states: States) -> float:
    """What a best response wins per hand, in chips, positions averaged: NashConv / 2."""
    return nash_conv(states) / 2
