"""The policy that a run of repeated rock-paper-scissors starts from.

Not the uniform one: nobody beats that, so a meta-strategy could rest on it for ever.
"""

import random
from typing import Any

ACTIONS = ("ROCK", "PAPER", "SCISSORS")
BEATS = {"ROCK": "SCISSORS", "PAPER": "ROCK", "SCISSORS": "PAPER"}


class Agent:
    """Keeps a throw that has just won; otherwise throws at random."""

    def act(self, observation: dict[str, Any]) -> str:
        """Returns "ROCK", "PAPER" or "SCISSORS"."""
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if mine is not None and BEATS[mine] == theirs:
            return str(mine)
        return random.choice(ACTIONS)
