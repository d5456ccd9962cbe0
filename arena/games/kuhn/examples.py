"""Observations of repeated Kuhn poker, as the rules show them."""

from __future__ import annotations

from arena.games.kuhn.table import BET
from arena.games.parts import Example

_SEED = 1
"""Of a match whose first hand has a K and a Q."""
_BET = {"player_id": 0, "action": "BET"}

EXAMPLES = (
    Example(
        "Player 1 holds a Q, and player 0 has bet.",
        "act",
        {
            "player_view": {"player_id": 1, "hand": "Q", "legal_actions": ["PASS", "BET"]},
            "public_state": {"paid": [2, 1], "pot_size": 3},
            "action_history": [_BET],
            "game_result": None,
        },
        deal_seed=_SEED,
        moves=bytes((BET,)),
    ),
    Example(
        "Player 1 called after that: the cards are shown, the K wins.",
        "receive_outcome",
        {
            "player_view": {"player_id": 1, "hand": "Q", "legal_actions": []},
            "public_state": {"paid": [2, 2], "pot_size": 4},
            "action_history": [_BET, {"player_id": 1, "action": "BET"}],
            "game_result": {
                "outcome": "SHOWDOWN",
                "returns": [2, -2],
                "showdown_hands": [
                    {"player_id": 0, "hand": "K"},
                    {"player_id": 1, "hand": "Q"},
                ],
            },
        },
        deal_seed=_SEED,
        moves=bytes((BET, BET)),
    ),
)
