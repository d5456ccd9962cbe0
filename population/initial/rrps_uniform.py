"""The policy that a run of repeated rock-paper-scissors starts from."""

import random
from typing import Any

ACTIONS = ("ROCK", "PAPER", "SCISSORS")


class Agent:
    """Throws uniformly at random: nobody wins against it in the long run, nor does it."""

    def act(self, observation: dict[str, Any]) -> str:
        """Returns any of the three throws, each with probability 1/3."""
        return random.choice(ACTIONS)
