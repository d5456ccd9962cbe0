"""The text that rendered RRPS policies are put together from.

Each part is a piece of Python that stands alone: the renderer picks the predictors that a genome
names and leaves out the others.  The many Markov models, and the records of all predictors, are
kept in arrays: each throw then takes a few dozen operations on all of them at once.
"""

from __future__ import annotations

HEADER = """import random

import numpy as np

MOVES = ("ROCK", "PAPER", "SCISSORS")
INDEX = {move: number for number, move in enumerate(MOVES)}  # move m is beaten by (m + 1) % 3
NOTHING = 39  # what a predictor says: 10 * guess + how sure it is (0 to 8), or that it has no guess
RECORDS = 30  # of each predictor: one for each sureness and mistake, and one for having no guess
MISTAKE = np.array([[(move - guess) % 3 for guess in range(4)] for move in range(3)])
ONES = np.eye(3)
TURN = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 0, 0]])  # (move - guess) % 3 by guess
"""

HISTORY = '''
class History:
    """What was played so far: `mine` and `theirs` hold moves 0, 1, 2.

    `my_code`, `their_code` and `joint_code` are the last LENGTH throws read as one number (base 3,
    3 and 9), newest in the lowest digit; `my_last[k]` and `their_last[k]` are the last k moves.
    """

    LENGTH = 30
    SIZES = (1, 3, 9, 27, 81, 243)

    def __init__(self):
        self.mine, self.theirs = bytearray(), bytearray()
        self.my_code = self.their_code = self.joint_code = 0
        self.shared = {}  # what several predictors can use

    def append(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)
        self.newest = (theirs, mine)
        self.my_code = (3 * self.my_code + mine) % 3**self.LENGTH
        self.their_code = (3 * self.their_code + theirs) % 3**self.LENGTH
        self.joint_code = (9 * self.joint_code + 3 * mine + theirs) % 9**self.LENGTH
        self.my_last = [self.my_code % size for size in self.SIZES]
        self.their_last = [self.their_code % size for size in self.SIZES]
'''

CONTEXTS = '''
class Contexts:
    """Markov models: each counts what one side did after each combination of recent moves.

    For each model, how many recent moves of mine and of theirs make up the situation; with 0 and
    0 it is a plain frequency count.  Old counts fade by `memory` each time a situation returns.
    """

    LEADS = np.array((0.4, 1.1, 2.2, 4.5))  # over the second largest count: steps of being sure

    def __init__(self, models):
        table = np.array(models, dtype=float).reshape(-1, 4).T
        self.of_me, self.mine, self.theirs = table[:3].astype(int)
        self.memory = table[3][:, None]
        sizes = 3 ** (self.mine + self.theirs)
        self.their_size, self.start = 3**self.theirs, np.cumsum(sizes) - sizes
        self.counts = np.zeros((sizes.sum(), 3))  # situations of all models, one after the other
        self.now = None

    def learn(self, history):
        if self.now is not None:
            happened = ONES.take(np.array(history.newest).take(self.of_me), axis=0)
            self.counts[self.now] = self.counts.take(self.now, axis=0) * self.memory + happened
        mine, theirs = np.array(history.my_last), np.array(history.their_last)
        self.now = self.start + mine.take(self.mine) * self.their_size + theirs.take(self.theirs)
        counts = self.counts.take(self.now, axis=0)
        low, middle, high = np.sort(counts).T
        told = 10 * counts.argmax(axis=1) + self.LEADS.searchsorted(high - middle, side="right")
        told[high == 0.0] = NOTHING
        return told
'''

MATCH = '''
class Copies:
    """Remembers when each recent stretch of moves, of several lengths, was last seen."""

    LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30)

    def __init__(self, base, longest):
        self.lengths = [n for n in self.LENGTHS if n <= longest]
        self.sizes = [base**n for n in self.lengths]
        self.last_seen = [{} for _ in self.lengths]
        self.now, self.stretches = 0, []
        self.when, self.rank = -1, 0  # what came after the longest copy, and its length's rank

    def look(self, code, now):
        if now == self.now:
            return  # another predictor has asked already
        self.now = now
        for seen, stretch in zip(self.last_seen, self.stretches):
            seen[stretch] = now - 1
        known = sum(n <= now for n in self.lengths) if now < self.lengths[-1] else None
        self.stretches = [code % size for size in self.sizes[:known]]
        self.when, self.rank = -1, 0
        for rank, stretch in enumerate(self.stretches):
            when = self.last_seen[rank].get(stretch)
            if when is None:
                return  # nor can a longer stretch have been seen
            self.when, self.rank = when, rank


class LongestMatch:
    """Finds the latest earlier copy of the recent past and guesses what came after it.

    It tries a few lengths up to `mine` (or `theirs`) moves and believes the longest that is known.
    """

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.longest = of_me, max(mine, theirs)
        self.source = "joint_code" if mine and theirs else "my_code" if mine else "their_code"

    def learn(self, history):
        name = (self.source, self.longest)
        copies = history.shared.get(name)
        if copies is None:
            base = 9 if self.source == "joint_code" else 3
            copies = history.shared[name] = Copies(base, self.longest)
        copies.look(getattr(history, self.source), len(history.mine))
        if copies.when < 0:
            return NOTHING
        guess = (history.mine if self.of_me else history.theirs)[copies.when]
        return 10 * guess + min(copies.rank, 8)
'''

LAG = '''
class Lag:
    """Guesses a repeat of the move that one side made some throws ago."""

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.lag = of_me, max(mine, theirs)
        self.source = "mine" if mine else "theirs"

    def learn(self, history):
        past = getattr(history, self.source)
        return 10 * past[-self.lag] if len(past) >= self.lag else NOTHING
'''

RANK = '''
def leader(row):
    """The largest of three counts and how sure it is (0, a tie nearly, to 4): 10 * move + sure."""
    a, b, c = row
    if a >= b:
        if a >= c:
            move, lead = 0, a - (b if b > c else c)
        else:
            move, lead = 20, c - a
    elif b >= c:
        move, lead = 10, b - (a if a > c else c)
    else:
        move, lead = 20, c - b
    if lead < 1.1:
        return move if lead < 0.4 else move + 1
    return move + 2 if lead < 2.2 else move + 3 if lead < 4.5 else move + 4


class Rank:
    """Counts what they do for each order of one side's move counts (who leads, who is tied).

    Sees players who keep their own moves balanced, and players who beat my most frequent move.
    """

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.memory = of_me, memory
        self.source = "mine" if mine else "theirs"
        self.counts, self.table, self.row = [0.0, 0.0, 0.0], {}, None

    def learn(self, history):
        row = self.row
        if row is not None:
            row[0] *= 0.97
            row[1] *= 0.97
            row[2] *= 0.97
            row[history.newest[self.of_me]] += 1.0
        counts, memory = self.counts, self.memory
        if memory < 1.0:
            counts[0] *= memory
            counts[1] *= memory
            counts[2] *= memory
        counts[getattr(history, self.source)[-1]] += 1.0
        a, b, c = counts
        situation = ((a > b) - (a < b), (b > c) - (b < c), (a > c) - (a < c))
        row = self.row = self.table.get(situation)
        if row is None:
            self.row = self.table[situation] = [0.0, 0.0, 0.0]
            return NOTHING
        return leader(row)
'''

PREDICTORS = {
    "match": ("LongestMatch", MATCH),
    "lag": ("Lag", LAG),
    "rank": ("Rank", RANK),
}
"""Kind of a part other than a context -> the name of its class and the class's text."""

AGENT_BODY = '''
    def __init__(self):
        self.history = History()
        self.contexts = Contexts(CONTEXTS)
        self.predictors = [kind(*settings) for kind, *settings in PREDICTORS]
        of_me = [settings[0] for settings in CONTEXTS] + [p.of_me for p in self.predictors]
        count = len(of_me)
        # A record says how often they played the guess, one ahead of it and two ahead (`shares`),
        # the logarithms of that, and how many throws were counted.
        # At first a guess of theirs is trusted a little, and they are expected to beat mine.
        rest = (1.0 - TRUST) / 2
        first = [[rest, TRUST, rest] if of else [TRUST, rest, rest] for of in of_me]
        self.shares = np.repeat(first, RECORDS, axis=0)
        self.logs = np.log(self.shares)
        self.counted = np.full(count * RECORDS, PATIENCE)
        # Of each predictor: its first record, its last guess (3 for none) and the record that this
        # stood in, its last mistake, the logarithms it gave to each move, and its weight.
        self.first = np.arange(count) * RECORDS
        self.guesses, self.records = np.full(count, 3), self.first + 9
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
        self.blend()
        return self.choose()

    def score(self, theirs):
        """Judges the last guesses by what they really played.

        The weights follow the gradient of the logarithm of the chance that was given to it.
        """
        self.weights += RATE * (self.said[:, theirs] - self.said @ self.forecast)
        np.maximum(self.weights, 0.0, out=self.weights)
        off = MISTAKE[theirs].take(self.guesses)
        np.copyto(self.mistakes, off, where=self.guesses < 3)
        records = self.records
        counted = self.counted.take(records)
        step = np.maximum(1.0 / counted, FORGET)[:, None]
        shares = (1.0 - step) * self.shares.take(records, axis=0) + step * ONES.take(off, axis=0)
        self.counted[records], self.shares[records] = counted + 1.0, shares
        self.logs[records] = np.log(shares + 0.005)

    def blend(self):
        """Lets every predictor learn and guess, and forecasts the opponent's next move.

        The forecast's logarithm is a weighted sum of the predictors' logarithms.
        """
        others = [predictor.learn(self.history) for predictor in self.predictors]
        told = np.append(self.contexts.learn(self.history), np.array(others, dtype=int))
        self.guesses, sure = np.divmod(told, 10)
        self.records = self.first + sure + 10 * self.mistakes
        said = self.logs.take(3 * self.records[:, None] + TURN.take(self.guesses, axis=0))
        said[self.guesses == 3] = 0.0
        self.said = said
        chances = self.weights @ self.said
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
