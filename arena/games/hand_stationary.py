"""Policies of games of hands that look at one hand alone, and the most that they can lose."""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.games.hand_game import HandGame
from arena.games.parts import Decision, InformationStates, Stationary, Table


def hand_stationary(game: HandGame[Any], states: InformationStates) -> Stationary:
    """The part `Game.stationary` of a game of hands with these information states."""

    def decisions(
        deal_seed: int, moves: bytes, fault_seat: int | None, seat: int
    ) -> list[Decision]:
        found, before = [], "nothing"
        for hand in game.hands(deal_seed, moves, fault_seat):
            late = "late" if 2 * hand.number >= game.length else "early"
            for at, (action, who) in enumerate(zip(hand.actions, game.seats(hand), strict=True)):
                if who == seat:
                    situation = game.situation(hand.deal, hand.actions[:at])
                    found.append(Decision(situation, action, (late, before)))
            won = hand.payoff() * (1 if seat == 0 else -1)
            before = ("drawn", "won", "lost")[int(np.sign(won))]
        return found

    return Stationary(states.legal, decisions, lambda table: _most(states, table))


def _most(states: InformationStates, table: Table) -> float:
    # Imported here because the exact values are made of games: they could not load each other.
    from arena.analysis.exact import best_response_value

    return best_response_value(states, {key: tuple(chances) for key, chances in table.items()})
