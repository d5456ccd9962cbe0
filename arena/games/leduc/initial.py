"""The policy that a run of repeated Leduc hold'em starts from."""

from typing import Any

VALUE = {"J": 0, "Q": 1, "K": 2}


class RepeatedLeducPokerBot:
    """Plays by the strength of its hand alone.

    A pair or a king is raised, a queen is called, a jack is given up as soon as that costs
    something.  Nothing is remembered from one hand to the next.
    """

    def restart(self, player_id: int) -> None:
        """A new hand begins; the seat makes no difference to this policy."""

    def act(self, observation: dict[str, Any]) -> str:
        """Returns "FOLD", "CALL" or "RAISE"."""
        legal = observation["player_view"]["legal_actions"]
        card = observation["player_view"]["hand"]
        paired = card == observation["public_state"]["public_card"]
        if (paired or VALUE[card] == 2) and "RAISE" in legal:
            return "RAISE"
        if not paired and VALUE[card] == 0 and "FOLD" in legal:
            return "FOLD"
        return "CALL"

    def receive_outcome(self, observation: dict[str, Any]) -> None:
        """The hand is over; nothing is learned from it."""
