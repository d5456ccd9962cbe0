"""A first policy for repeated Leduc hold'em, to read and to improve.

Two ideas.  Play the cards: a pair is nearly unbeatable, a king is good, a jack is not worth much
once somebody raises.  And watch the opponent: one that folds to most raises is raised whatever
the cards are, and one that never folds is never bluffed.

The observation's keys are explained in the rules of the game.
"""

import random
from itertools import pairwise
from typing import Any

STRENGTH = {"J": 0, "Q": 1, "K": 2}
PAIR = 3


class RepeatedLeducPokerBot:
    """One instance plays one match of many hands."""

    def __init__(self) -> None:
        self.me = 0
        self.raised = 0  # how often the opponent had to answer a raise of ours
        self.folded = 0  # how often it folded to one

    def restart(self, player_id: int) -> None:
        """A new hand begins; player 0 acts first."""
        self.me = player_id

    def act(self, observation: dict[str, Any]) -> str:
        """Returns "FOLD", "CALL" or "RAISE"."""
        legal = observation["player_view"]["legal_actions"]
        wish = self.wish(self.strength(observation), "FOLD" in legal)
        if wish not in legal:  # no raise is left in this round, or there is nothing to fold to
            return "CALL"
        return wish

    def receive_outcome(self, observation: dict[str, Any]) -> None:
        """The hand is over: counts how the opponent answered our raises."""
        history = observation["action_history"]
        for moves in (history["PREFLOP"], history["POSTFLOP"]):
            for move, answer in pairwise(moves):
                if move["player_id"] == self.me and move["action"] == "RAISE":
                    self.raised += 1
                    self.folded += answer["action"] == "FOLD"

    def strength(self, observation: dict[str, Any]) -> int:
        """0 (jack) to 2 (king) by the card, 3 for a pair."""
        hand = observation["player_view"]["hand"]
        if hand == observation["public_state"]["public_card"]:
            return PAIR
        return STRENGTH[hand]

    def wish(self, strength: int, facing_raise: bool) -> str:
        """What it would like to do."""
        folds = self.folded_share()
        if folds > 0.6:
            return "RAISE"  # most raises win at once
        if strength == PAIR:
            return "RAISE"
        if strength == STRENGTH["K"]:
            return "CALL" if facing_raise else "RAISE"
        if not facing_raise:
            return "RAISE" if random.random() < folds / 2 else "CALL"
        return "CALL" if strength == STRENGTH["Q"] else "FOLD"

    def folded_share(self) -> float:
        """Estimated chance that the opponent folds to a raise; starts at one in three."""
        return (self.folded + 1) / (self.raised + 3)
