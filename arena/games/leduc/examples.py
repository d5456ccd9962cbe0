"""Observations of repeated Leduc hold'em, as the rules show them."""

from __future__ import annotations

from arena.games.leduc.table import CALL, RAISE
from arena.games.parts import Example

_SEED = 2
"""Of a match whose first hand has these cards: K, Q and, public, J."""
_CALLED = [{"player_id": 0, "action": "CALL"}, {"player_id": 1, "action": "CALL"}]
_RAISED = [{"player_id": 0, "action": "RAISE"}]

EXAMPLES = (
    Example(
        "Player 1 holds a Q, the public card is a J, and player 0 has raised.",
        "act",
        {
            "player_view": {
                "player_id": 1,
                "current_player": True,
                "hand": "Q",
                "legal_actions": ["FOLD", "CALL", "RAISE"],
            },
            "public_state": {
                "round": "POSTFLOP",
                "chips": [95, 99],
                "pot_size": 6,
                "public_card": "J",
            },
            "action_history": {"PREFLOP": _CALLED, "POSTFLOP": _RAISED},
            "game_result": None,
        },
        deal_seed=_SEED,
        moves=bytes((CALL, CALL, RAISE)),
    ),
    Example(
        "Player 1 called after that: the hands are shown, the K wins.",
        "receive_outcome",
        {
            "player_view": {
                "player_id": 1,
                "current_player": False,
                "hand": "Q",
                "legal_actions": [],
            },
            "public_state": {
                "round": "POSTFLOP",
                "chips": [105, 95],
                "pot_size": 0,
                "public_card": "J",
            },
            "action_history": {
                "PREFLOP": _CALLED,
                "POSTFLOP": [*_RAISED, {"player_id": 1, "action": "CALL"}],
            },
            "game_result": {
                "outcome": "SHOWDOWN",
                "returns": [5, -5],
                "showdown_hands": [
                    {"player_id": 0, "hand": "K"},
                    {"player_id": 1, "hand": "Q"},
                ],
            },
        },
        deal_seed=_SEED,
        moves=bytes((CALL, CALL, RAISE, CALL)),
    ),
)
