"""The text around the predictors of rendered RRPS policies: what is kept, and who decides.

A line that begins with words in brackets, such as `[contexts]`, is kept only where a policy has
that; see `rrps_render`.
"""

from __future__ import annotations

HEADER = """import random

import numpy as np

MOVES = ("ROCK", "PAPER", "SCISSORS")
INDEX = {move: number for number, move in enumerate(MOVES)}  # move m is beaten by (m + 1) % 3
NO_GUESS = 3  # in place of a move
STEPS = 10  # how sure a guess is: 0 to 8, or
UNSURE = 9  # there is none
ONES = np.eye(3)
TURN = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 0, 0]])  # (move - guess) % 3 by guess
"""

HISTORY = '''
class History:
    """What was played so far: `mine` and `theirs` hold moves 0, 1, 2; `newest` is (theirs, mine).
[match]
[match]    The codes are the last LENGTH throws read as one number (base 3, 3 and 9), newest in the
[match]    lowest digit.
[contexts]
[contexts]    `my_last[k]` and `their_last[k]` are the last k moves as one number.
    """

[match]    LENGTH = 30
[contexts]    SIZES = (1, 3, 9, 27, 81, 243)
[match]
[contexts alone]
    def __init__(self):
        self.mine, self.theirs = bytearray(), bytearray()
[match]        self.my_code = self.their_code = self.joint_code = 0
[match]        self.copies = {}  # what several predictors look up
[contexts alone]        self.my_code = self.their_code = 0

    def append(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)
        self.newest = (theirs, mine)
[match]        self.my_code = (3 * self.my_code + mine) % 3**self.LENGTH
[match]        self.their_code = (3 * self.their_code + theirs) % 3**self.LENGTH
[match]        self.joint_code = (9 * self.joint_code + 3 * mine + theirs) % 9**self.LENGTH
[contexts alone]        self.my_code = (3 * self.my_code + mine) % self.SIZES[-1]
[contexts alone]        self.their_code = (3 * self.their_code + theirs) % self.SIZES[-1]
[contexts]        self.my_last = [self.my_code % size for size in self.SIZES]
[contexts]        self.their_last = [self.their_code % size for size in self.SIZES]
'''

CHOOSERS = '''
class Choosers:
    """What players would throw who act on whichever guess has paid best for them.

    Such a player makes three plans of every guess, the guess itself, what beats it and what loses
    to it, and scores them by what they would have won.  Scores fade by `memory`; with a memory of
    1 they do not, but a loss sets them back to nothing.  A player who sits where they sit scores
    plans against my moves, one who sits where I sit against theirs.
    """

    SCORES = np.array((2.0, 5.0, 10.0, 20.0))  # of the best plan: steps of being sure
    WON = np.array((0.0, 1.0, -1.0))  # by (plan - what it met) % 3

    def __init__(self, choosers, groups):
        of_me, groups_in, memory = zip(*choosers)
        self.meets = 1 - np.array(of_me, dtype=int)  # in history.newest
        self.memory = np.array(memory)[:, None, None]
        self.wiped = np.flatnonzero(np.array(memory) == 1.0)
        left_out = [[group not in chosen for group in groups] for chosen in groups_in]
        self.left_out = np.where(left_out, -np.inf, 0.0)[:, :, None]
        self.scores = np.zeros((len(choosers), len(groups), 3))
        self.plans, self.silent = np.zeros((len(groups), 3), dtype=int), np.arange(len(groups))

    def learn(self, history, guesses):
        """Scores the last plans and makes new ones; returns guesses, and how sure they are."""
        won = self.WON.take((self.plans - np.array(history.newest)[:, None, None]) % 3)
        won[:, self.silent] = 0.0
        won = won.take(self.meets, axis=0)
        self.scores *= self.memory
        self.scores += won
        self.scores[self.wiped] *= won[self.wiped] >= 0.0
        self.silent = np.flatnonzero(guesses == NO_GUESS)
        self.plans = (guesses[:, None] + (0, 1, 2)) % 3
        scores = self.scores + self.left_out
        scores[:, self.silent] = -np.inf
        scores = scores.reshape(len(scores), -1)
        best, top = scores.argmax(axis=1), scores.max(axis=1)
        guesses, sure = self.plans.take(best), self.SCORES.searchsorted(top)
        nothing = top == -np.inf
        guesses[nothing], sure[nothing] = NO_GUESS, UNSURE
        return guesses, sure
'''

AGENT_BODY = '''
    def __init__(self):
        self.history = History()
        of_me = []  # of each predictor
[contexts]        self.contexts = Contexts(CONTEXTS)
[contexts]        of_me += [settings[0] for settings in CONTEXTS]
[others]        self.predictors = [kind(*settings) for kind, *settings in PREDICTORS]
[others]        of_me += [predictor.of_me for predictor in self.predictors]
[choosers]        self.choosers = Choosers(CHOOSERS, GROUPS)
[choosers]        of_me += [settings[0] for settings in CHOOSERS]
        count = len(of_me)
        # A record says how often they played the guess, one ahead of it and two ahead (`shares`),
        # the logarithms of that, and how many throws were counted.  A predictor has a record for
        # each step of being sure and each way in which its last guess was off.
        # At first a guess of theirs is trusted a little, and they are expected to beat mine.
        rest = (1.0 - TRUST) / 2
        first = [[rest, TRUST, rest] if of else [TRUST, rest, rest] for of in of_me]
        self.shares = np.repeat(first, 3 * STEPS, axis=0)
        self.logs = np.log(self.shares)
        self.counted = np.full(count * 3 * STEPS, PATIENCE)
        # Of each predictor: its first record, its last guess and the record that this stood in,
        # its last mistake, the logarithms it gave to each move, and its weight.
        self.first = np.arange(count) * 3 * STEPS
        self.guesses, self.records = np.full(count, NO_GUESS), self.first + UNSURE
        self.mistakes = np.zeros(count, dtype=int)
        self.said = np.zeros((count, 3))
        self.weights = np.full(count, FIRST_WEIGHT)
        self.forecast = np.full(3, 1 / 3)
        self.reply, self.form = 0, 0.0  # what I wanted to play, and what that has been worth

    def act(self, observation):
        if observation["my_action"] is None:
            return random.choice(MOVES)
        mine, theirs = INDEX[observation["my_action"]], INDEX[observation["opponent_action"]]
        self.history.append(mine, theirs)
        self.form = FORM_MEMORY * self.form + (self.reply - theirs + 1) % 3 - 1
        self.score(theirs)
        self.blend(*self.listen())
        return self.choose()

    def score(self, theirs):
        """Judges the last guesses by what they really played.

        The weights follow the gradient of the logarithm of the chance that was given to it.
        """
        self.weights += RATE * (self.said[:, theirs] - self.said @ self.forecast)
        np.maximum(self.weights, 0.0, out=self.weights)
        off = TURN[:, theirs].take(self.guesses)
        np.copyto(self.mistakes, off, where=self.guesses != NO_GUESS)
        records = self.records
        counted = self.counted.take(records)
        step = np.maximum(1.0 / counted, FORGET)[:, None]
        shares = (1.0 - step) * self.shares.take(records, axis=0) + step * ONES.take(off, axis=0)
        self.counted[records], self.shares[records] = counted + 1.0, shares
        self.logs[records] = np.log(shares + 0.005)

    def listen(self):
        """Lets every predictor learn; returns their guesses, and how sure they are."""
        told = []  # of one sort of predictors after the other
[contexts]        told.append(self.contexts.learn(self.history))
[others]        told.append(list(zip(*[one.learn(self.history) for one in self.predictors])))
[choosers]        guesses = np.concatenate([guesses for guesses, _ in told])
[choosers]        told.append(self.choosers.learn(self.history, guesses))
        guesses, sure = (np.concatenate(columns) for columns in zip(*told))
        return guesses, sure

    def blend(self, guesses, sure):
        """Forecasts the opponent's next move.

        The forecast's logarithm is a weighted sum of the predictors' logarithms.
        """
        self.guesses = guesses
        self.records = self.first + STEPS * self.mistakes + sure
        said = self.logs.take(3 * self.records[:, None] + TURN.take(guesses, axis=0))
        said[guesses == NO_GUESS] = 0.0
        self.said = said
        chances = self.weights @ said
        chances = np.exp(chances - chances.max())
        self.forecast = chances / chances.sum()

    def choose(self):
        """The reply that pays best if the forecast is right, or a random move.

        It is random if no reply promises enough, and while the replies that I wanted to play
        have been losing: then the opponent is ahead of me.
        """
        rock, paper, scissors = self.forecast.tolist()
        payoffs = (scissors - paper, rock - scissors, paper - rock)
        best = max(payoffs)
        self.reply = payoffs.index(best)
        if best < EDGE or self.form < -NET:
            return random.choice(MOVES)
        return MOVES[self.reply]
'''
