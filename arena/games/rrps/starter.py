"""A first policy for repeated rock-paper-scissors, to read and to improve.

Idea: people and programs repeat themselves.  Count what the opponent threw each time after the
last two throws (of both sides) looked like they do now, and beat the most frequent of it.  Where
that situation is new, look at the last throw alone; where that is new too, be random.

The safety net matters as much: an opponent who sees through the counting wins throw after throw.
So the policy keeps score, and plays at random, which nobody can beat, while it is well behind.
"""

import random
from typing import Any

ACTIONS = ("ROCK", "PAPER", "SCISSORS")
BEATEN_BY = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}

FADE = 0.98  # a count loses 2 % of its weight each time that its situation comes up again
TRUST = 1.0  # how much a situation must have been seen before its counts are believed
PATIENCE = 30  # how far to fall behind before giving up on predictions


class Agent:
    """One instance plays one match."""

    def __init__(self) -> None:
        # situation -> {opponent's next throw: weight}
        self.counts: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
        self.rounds: list[tuple[str, str]] = []  # (my throw, opponent's throw), oldest first
        self.score = 0

    def act(self, observation: dict[str, Any]) -> str:
        """Returns the next throw: "ROCK", "PAPER" or "SCISSORS"."""
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if theirs is not None:  # there is no last throw at the start of a match
            self.learn(mine, theirs)
        if self.score <= -PATIENCE:
            return random.choice(ACTIONS)
        return BEATEN_BY[self.predict()]

    def learn(self, mine: str, theirs: str) -> None:
        """Counts what the opponent just did in the situation it was in, and keeps score."""
        for situation in self.situations():
            weights = self.counts.setdefault(situation, dict.fromkeys(ACTIONS, 0.0))
            for action in ACTIONS:
                weights[action] *= FADE
            weights[theirs] += 1.0
        self.rounds.append((mine, theirs))
        if mine == BEATEN_BY[theirs]:
            self.score += 1
        elif theirs == BEATEN_BY[mine]:
            self.score -= 1

    def situations(self) -> list[tuple[tuple[str, str], ...]]:
        """What the opponent may be reacting to, the most telling first."""
        return [tuple(self.rounds[-length:]) for length in (2, 1) if len(self.rounds) >= length]

    def predict(self) -> str:
        """The opponent's likeliest next throw; a random one where nothing is known."""
        for situation in self.situations():
            weights = self.counts.get(situation)
            if weights and sum(weights.values()) > TRUST:
                best = max(weights.values())
                return random.choice([a for a in ACTIONS if weights[a] == best])
        return random.choice(ACTIONS)
