"""The policy that a run of repeated Kuhn poker starts from."""

from typing import Any


class RepeatedKuhnPokerBot:
    """Plays by its card alone.

    A king is bet and called, a queen is called but not bet, a jack is given up.  Nothing is
    remembered from one hand to the next.
    """

    def restart(self, player_id: int) -> None:
        """A new hand begins; the position makes no difference to this policy."""

    def act(self, observation: dict[str, Any]) -> str:
        """Returns "PASS" or "BET"."""
        card = observation["player_view"]["hand"]
        history = observation["action_history"]
        facing_a_bet = bool(history) and history[-1]["action"] == "BET"
        return "BET" if card == "K" or (card == "Q" and facing_a_bet) else "PASS"

    def receive_outcome(self, observation: dict[str, Any]) -> None:
        """The hand is over; nothing is learned from it."""
