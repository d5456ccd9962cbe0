"""Exact values of tabular policies, from a walk over the engine's tree of one hand.

The hand is kept in sequence form (D. Koller, N. Megiddo, B. von Stengel, "Fast algorithms for
finding randomized strategies in game trees", STOC 1994): a player's sequence is what he has done
on the way to a point, his last information state and action, and a matrix has what player 0 wins
on average at all ends to which a pair of sequences leads, by how likely chance leads there.  A
table gives a weight to each sequence, and values are products.

Values are in the game's unit: per hand where a function says so, else per match, in which the
players change places every hand, as the arena plays it.  Exploitability and NashConv as in
M. Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning"
(NeurIPS 2017), section 2: NashConv is the sum over players of what each gains by a best response,
exploitability is NashConv / 2.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyspiel

from arena.games.parts import InformationStates
from arena.kinds.tabular import Probabilities, pure

States = Mapping[str, Probabilities]
"""A tabular policy: information state to the probabilities of the actions."""
Floats = npt.NDArray[np.float64]


class BestResponse(NamedTuple):
    """A best response of one player.

    Attributes:
      value: what it wins per hand.
      states: the actions that it takes, in that player's information states.
    """

    value: float
    states: dict[str, Probabilities]


@dataclass(slots=True)
class _Player:
    """One player's information states, in an order in which those before come first.

    Attributes:
      before: state to the sequence that leads to it; 0 is the empty sequence.
      after: state to the sequences after its actions, by number of the action.
      sequences: so many there are.
    """

    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, dict[int, int]] = field(default_factory=dict)
    sequences: int = 1

    def meet(self, state: str, before: int, legal: Iterable[int]) -> dict[int, int]:
        """Takes note of a state; returns the sequences after its actions.

        Raises:
          ValueError: the state was met after another sequence: its player would have forgotten.
        """
        if state not in self.before:
            self.before[state] = before
            actions = tuple(legal)
            places = range(self.sequences, self.sequences + len(actions))
            self.after[state] = dict(zip(actions, places, strict=True))
            self.sequences += len(actions)
        if self.before[state] != before:
            raise ValueError(f"state {state!r} does not tell what its player did before")
        return self.after[state]

    def weights(self, table: States) -> Floats:
        """(sequences,), how likely the player's own choices lead to each."""
        found = np.zeros(self.sequences)
        found[0] = 1.0
        for state, before in self.before.items():
            chosen = table[state]
            for action, after in self.after[state].items():
                found[after] = found[before] * chosen[action]
        return found


class _Hand(NamedTuple):
    """One hand in sequence form.

    Attributes:
      players: 0 and 1.
      payoffs: (sequences of player 0, sequences of player 1), what player 0 wins.
    """

    players: tuple[_Player, _Player]
    payoffs: Floats


@functools.lru_cache(maxsize=16)
def _hand(space: InformationStates) -> _Hand:
    players = (_Player(), _Player())
    ends: list[tuple[int, int, float]] = []

    def walk(state: Any, reach: float, sequences: tuple[int, int]) -> None:
        if state.is_terminal():
            ends.append((*sequences, reach * state.returns()[0]))
        elif state.is_chance_node():
            for outcome, chance in state.chance_outcomes():
                walk(state.child(outcome), reach * chance, sequences)
        else:
            who = state.current_player()
            key, legal = space.in_engine(state), state.legal_actions()
            for action, after in players[who].meet(key, sequences[who], legal).items():
                on = (after, sequences[1]) if who == 0 else (sequences[0], after)
                walk(state.child(action), reach, on)

    walk(pyspiel.load_game(space.engine).new_initial_state(), 1.0, (0, 0))
    payoffs = np.zeros((players[0].sequences, players[1].sequences))
    for first, second, won in ends:
        payoffs[first, second] += won
    return _Hand(players, payoffs)


def hand_value(space: InformationStates, first: States, second: States) -> float:
    """What player 0 wins per hand when players 0 and 1 play these tables."""
    (zero, one), payoffs = _hand(space)
    return float(zero.weights(first) @ payoffs @ one.weights(second))


def hand_best_response(space: InformationStates, player: int, against: States) -> BestResponse:
    """The best response of one player of a hand.

    From the last information states to the first, each takes the action after which the most is
    won, given where chance and the opponent lead.

    Args:
      space: of the game.
      player: the responder, 0 or 1.
      against: what the other player plays.
    """
    players, payoffs = _hand(space)
    responder, weights = players[player], players[1 - player].weights(against)
    won = payoffs @ weights if player == 0 else -(weights @ payoffs)
    answer: dict[str, Probabilities] = {}
    for state in reversed(responder.before):
        after = responder.after[state]
        action = max(after, key=lambda option: float(won[after[option]]))
        won[responder.before[state]] += won[after[action]]
        answer[state] = pure(space, action)
    return BestResponse(float(won[0]), answer)


def best_response(space: InformationStates, against: States) -> dict[str, Probabilities]:
    """A table for both positions that wins the most a hand against this one."""
    found = {
        **hand_best_response(space, 0, against).states,
        **hand_best_response(space, 1, against).states,
    }
    return {key: found[key] for key in space.legal}


def best_response_value(space: InformationStates, against: States) -> float:
    """What a best response wins per match, positions averaged."""
    return space.hands * exploitability(space, against)


def nash_conv(space: InformationStates, states: States) -> float:
    """NashConv of the profile in which both players play this table, per hand."""
    # The hand is zero-sum, so what the players win when nobody deviates cancels out.
    return sum(hand_best_response(space, player, states).value for player in (0, 1))


def exploitability(space: InformationStates, states: States) -> float:
    """What a best response wins per hand, positions averaged: NashConv / 2."""
    return nash_conv(space, states) / 2


def ceiling(space: InformationStates, members: Iterable[States]) -> float:
    """The most that a policy can win on average against these, per match.

    The mean of what best responses win against each: no policy can do better than to know at once
    whom it meets.
    """
    return fmean(best_response_value(space, member) for member in members)
