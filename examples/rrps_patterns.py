"""Example for repeated rock-paper-scissors: find the longest echo of the present in the past.

Where the starter policy counts situations of a fixed length, this one asks when the match last
looked the way it does now, for as many throws back as possible, and expects the same to follow.
It looks at three tapes (the opponent's throws, its own, and both), and at each prediction in all
three rotations: beat it, beat what beats it, and so on, because a clever opponent expects to be
predicted.  Every one of these nine voices is scored on what it would have won lately, and the best
one is followed, unless even that one would have been losing: then the throw is random.
"""

import random

ACTIONS = ("ROCK", "PAPER", "SCISSORS")
NUMBER = {"ROCK": 0, "PAPER": 1, "SCISSORS": 2}

LONGEST = 24  # throws back that a situation may reach
MEMORY = 0.92  # weight of the past in a voice's score; 0.92 remembers about a dozen throws


def echo(tape):
    """Where the longest earlier copy of the tape's end stops, or None.

    Looks at the latest place first, so that among equally long copies the newest one wins.
    """
    for length in range(min(LONGEST, len(tape) - 1), 0, -1):
        place = tape.rfind(tape[-length:], 0, len(tape) - 1)
        if place >= 0:
            return place + length
    return None


class Agent:
    """One instance plays one match."""

    def __init__(self):
        self.mine, self.theirs, self.both = "", "", ""
        self.scores = [0.0] * 9
        self.voices = [None] * 9  # what each voice said before this throw

    def act(self, observation):
        """Returns the next throw."""
        if observation["opponent_action"] is not None:
            self.learn(NUMBER[observation["my_action"]], NUMBER[observation["opponent_action"]])
        self.voices = self.listen()
        best = max(range(9), key=lambda voice: (self.scores[voice], random.random()))
        if self.voices[best] is None or self.scores[best] <= 0:
            return random.choice(ACTIONS)
        return ACTIONS[self.voices[best]]

    def learn(self, mine, theirs):
        """Scores what the voices said, and writes the throw on the tapes."""
        for voice, said in enumerate(self.voices):
            self.scores[voice] *= MEMORY
            if said is not None:
                # (said - theirs) mod 3 is 0 for a draw, 1 for a win, 2 for a loss.
                self.scores[voice] += (0, 1, -1)[(said - theirs) % 3]
        self.mine += str(mine)
        self.theirs += str(theirs)
        self.both += chr(ord("a") + 3 * mine + theirs)

    def listen(self):
        """What each voice would throw now: three tapes times three rotations."""
        said = []
        for tape in (self.theirs, self.mine, self.both):
            place = echo(tape)
            for rotation in (1, 2, 0):
                expected = None if place is None else int(self.theirs[place])
                said.append(None if expected is None else (expected + rotation) % 3)
        return said
