"""Contextual regret matching for repeated rock-paper-scissors.

After every throw it is plain what each of the three throws would have won.  The regret of a throw
is what it would have won more than what was played, added up and never below 0; playing in
proportion to regrets (regret matching+) does in the long run as well as the best single throw.
Here regrets are kept apart by context, the last joint throws, and once for each of four lengths of
context.  Which length to follow is decided in the same way: by regrets, one level up.

Sources: Hart and Mas-Colell 2000, doi:10.1111/1468-0262.00153 (regret matching); Tammelin 2014,
arXiv:1407.5042 (the variant that forgets negative regrets).  It knows no opponent, and no number in
it was chosen by trying: lengths are 0 to 3, and everything starts at 0.
"""

import random
from typing import Any

ACTIONS = ("ROCK", "PAPER", "SCISSORS")
WINS = {  # what each of the three throws wins against this one
    "ROCK": (0, 1, -1),
    "PAPER": (-1, 0, 1),
    "SCISSORS": (1, -1, 0),
}
LENGTHS = (0, 1, 2, 3)


def matched(regrets: list[float]) -> list[float]:
    """Probabilities in proportion to regrets; all alike where there are none."""
    total = sum(regrets)
    if total == 0.0:
        return [1.0 / len(regrets)] * len(regrets)
    return [regret / total for regret in regrets]


class Agent:
    """Plays what it regrets not to have played in such contexts."""

    def __init__(self) -> None:
        self.past: tuple[str, ...] = ()  # the last joint throws, the latest last
        self.regrets: list[dict[tuple[str, ...], list[float]]] = [{} for _ in LENGTHS]
        self.of_lengths = [0.0] * len(LENGTHS)
        self.contexts: list[tuple[str, ...]] = [()] * len(LENGTHS)
        self.mixtures = [[1.0 / 3] * 3 for _ in LENGTHS]

    def act(self, observation: dict[str, Any]) -> str:
        """Returns "ROCK", "PAPER" or "SCISSORS"."""
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if theirs is not None:
            self.learn(WINS[theirs])
            self.past = (*self.past, mine + theirs)[-LENGTHS[-1] :]
        self.contexts = [self.past[max(0, len(self.past) - n) :] for n in LENGTHS]
        self.mixtures = [
            matched(regrets.setdefault(context, [0.0] * 3))
            for regrets, context in zip(self.regrets, self.contexts, strict=True)
        ]
        weights = matched(self.of_lengths)
        chances = [
            sum(w * mix[a] for w, mix in zip(weights, self.mixtures, strict=True)) for a in range(3)
        ]
        return random.choices(ACTIONS, chances)[0]

    def learn(self, wins: tuple[int, int, int]) -> None:
        """Adds what each throw, and each length of context, would have won more."""
        values = [sum(p * win for p, win in zip(mix, wins, strict=True)) for mix in self.mixtures]
        weights = matched(self.of_lengths)
        played = sum(weight * value for weight, value in zip(weights, values, strict=True))
        for number, value in enumerate(values):
            regrets = self.regrets[number][self.contexts[number]]
            for action in range(3):
                regrets[action] = max(0.0, regrets[action] + wins[action] - value)
            self.of_lengths[number] = max(0.0, self.of_lengths[number] + value - played)
