"""The text that rendered RRPS policies are put together from.

Each part is a piece of Python that stands alone: the renderer picks the predictors that a genome
names and leaves out the others, so that a policy never carries code that it does not use.
"""

from __future__ import annotations

HEADER = """import math
import random

MOVES = ("ROCK", "PAPER", "SCISSORS")
INDEX = {move: number for number, move in enumerate(MOVES)}  # move m is beaten by (m + 1) % 3
"""

HISTORY = '''
class History:
    """What was played so far: `mine` and `theirs` hold moves 0, 1, 2.

    `my_code`, `their_code` and `joint_code` are the last LENGTH throws read as one number (base 3,
    3 and 9), newest in the lowest digit: the last k moves of a side are its code % 3**k.
    """

    LENGTH = 30

    def __init__(self):
        self.mine, self.theirs = bytearray(), bytearray()
        self.my_code = self.their_code = self.joint_code = 0
        self.shared = {}  # what several predictors can use

    def append(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)
        self.my_code = (3 * self.my_code + mine) % 3**self.LENGTH
        self.their_code = (3 * self.their_code + theirs) % 3**self.LENGTH
        self.joint_code = (9 * self.joint_code + 3 * mine + theirs) % 9**self.LENGTH
'''

LEADER = '''
def leader(row):
    """The largest of three counts and how sure it is: 0 (a tie, nearly) to 4."""
    a, b, c = row
    if a >= b:
        if a >= c:
            move, lead = 0, a - (b if b > c else c)
        else:
            move, lead = 2, c - a
    elif b >= c:
        move, lead = 1, b - (a if a > c else c)
    else:
        move, lead = 2, c - b
    if lead < 1.1:
        return move, 0 if lead < 0.4 else 1
    return move, 2 if lead < 2.2 else 3 if lead < 4.5 else 4
'''

CONTEXT = '''
class Context:
    """Counts what one side did after each combination of recent moves (a Markov model).

    `mine` and `theirs` say how many recent moves of each side make up the situation; with 0 and 0
    it is a plain frequency count.  Old counts fade by `memory` each time a situation returns.
    """

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.memory = of_me, memory
        self.my_size, self.their_size = 3**mine, 3**theirs
        self.table, self.row = {}, None
        self.guess, self.sure = -1, 0

    def learn(self, history):
        row = self.row
        if row is not None:
            memory = self.memory
            if memory < 1.0:
                row[0] *= memory
                row[1] *= memory
                row[2] *= memory
            row[(history.mine if self.of_me else history.theirs)[-1]] += 1.0
        situation = (
            history.my_code % self.my_size * self.their_size + history.their_code % self.their_size
        )
        row = self.row = self.table.get(situation)
        if row is None:
            self.row = self.table[situation] = [0.0, 0.0, 0.0]
            self.guess = -1
        else:
            self.guess, self.sure = leader(row)
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
        self.guess, self.sure = -1, 0

    def learn(self, history):
        name = (self.source, self.longest)
        copies = history.shared.get(name)
        if copies is None:
            base = 9 if self.source == "joint_code" else 3
            copies = history.shared[name] = Copies(base, self.longest)
        copies.look(getattr(history, self.source), len(history.mine))
        if copies.when < 0:
            self.guess = -1
        else:
            self.guess = (history.mine if self.of_me else history.theirs)[copies.when]
            self.sure = min(copies.rank, 8)
'''

LAG = '''
class Lag:
    """Guesses a repeat of the move that one side made some throws ago."""

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.lag = of_me, max(mine, theirs)
        self.source = "mine" if mine else "theirs"
        self.guess, self.sure = -1, 0

    def learn(self, history):
        past = getattr(history, self.source)
        self.guess = past[-self.lag] if len(past) >= self.lag else -1
'''

RANK = '''
class Rank:
    """Counts what they do for each order of one side's move counts (who leads, who is tied).

    Sees players who keep their own moves balanced, and players who beat my most frequent move.
    """

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.memory = of_me, memory
        self.source = "mine" if mine else "theirs"
        self.counts, self.table, self.row = [0.0, 0.0, 0.0], {}, None
        self.guess, self.sure = -1, 0

    def learn(self, history):
        row = self.row
        if row is not None:
            row[0] *= 0.97
            row[1] *= 0.97
            row[2] *= 0.97
            row[(history.mine if self.of_me else history.theirs)[-1]] += 1.0
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
            self.guess = -1
        else:
            self.guess, self.sure = leader(row)
'''

PREDICTORS = {
    "context": ("Context", CONTEXT),
    "match": ("LongestMatch", MATCH),
    "lag": ("Lag", LAG),
    "rank": ("Rank", RANK),
}
"""Kind of a part -> the name of its class and the class's text."""

AGENT_BODY = '''
    def __init__(self):
        self.history = History()
        self.predictors = [kind(*settings) for kind, *settings in PREDICTORS]
        # Per predictor, sureness and last mistake: how often they played guess, guess + 1 and
        # guess + 2; the logarithms of these shares over the first; how many throws were counted.
        self.records = [self.fresh_records(p.of_me) for p in self.predictors]
        self.rows = [None] * len(self.predictors)  # the records that the last guesses stood in
        self.mistakes = [0] * len(self.predictors)
        self.weights = [FIRST_WEIGHT] * len(self.predictors)
        self.forecast = (1 / 3, 1 / 3, 1 / 3)
        self.reply, self.form = 0, 0.0  # what I wanted to play, and what that has been worth

    @staticmethod
    def fresh_records(of_me):
        """At first a guess of theirs is trusted a little, and they are expected to beat mine."""
        shares = [(1.0 - TRUST) / 2] * 3
        shares[1 if of_me else 0] = TRUST
        logs = [math.log(share / shares[0]) for share in shares]
        return [[*shares, *logs, PATIENCE] for _ in range(27)]

    def act(self, observation):
        if observation["my_action"] is None:
            return random.choice(MOVES)
        mine, theirs = INDEX[observation["my_action"]], INDEX[observation["opponent_action"]]
        self.history.append(mine, theirs)
        self.form = FORM_MEMORY * self.form + (self.reply - theirs + 1) % 3 - 1
        self.blend(theirs)
        return self.choose()

    def blend(self, theirs):
        """Scores the last guesses, lets every predictor learn, and forecasts their next move.

        The forecast's logarithm is a weighted sum of the predictors' logarithms; the weights
        follow the gradient of the probability that was given to what they really played.
        """
        rows, weights, mistakes, log = self.rows, self.weights, self.mistakes, math.log
        p0, p1, p2 = self.forecast
        # By guess: how far they were off, and what the forecast gave to off by one and by two.
        by_guess = (
            (theirs, p1, p2),
            ((theirs + 2) % 3, p2, p0),
            ((theirs + 1) % 3, p0, p1),
        )
        z0 = z1 = z2 = 0.0
        for i, predictor in enumerate(self.predictors):
            row = rows[i]
            if row is not None:
                off, one_off, two_off = by_guess[predictor.guess]
                gain = row[3 + off] - one_off * row[4] - two_off * row[5]
                weight = weights[i] + RATE * gain
                weights[i] = weight if weight > 0.0 else 0.0
                mistakes[i] = off
                step = 1.0 / row[6]
                row[6] += 1.0
                if step < FORGET:
                    step = FORGET
                keep = 1.0 - step
                row[0] *= keep
                row[1] *= keep
                row[2] *= keep
                row[off] += step
                zero = log(row[0] + 0.005)
                row[4] = log(row[1] + 0.005) - zero
                row[5] = log(row[2] + 0.005) - zero
            predictor.learn(self.history)
            guess = predictor.guess
            if guess < 0:
                rows[i] = None
                continue
            row = rows[i] = self.records[i][predictor.sure + 9 * mistakes[i]]
            weight = weights[i]
            if guess == 0:
                z1 += weight * row[4]
                z2 += weight * row[5]
            elif guess == 1:
                z2 += weight * row[4]
                z0 += weight * row[5]
            else:
                z0 += weight * row[4]
                z1 += weight * row[5]
        top = max(z0, z1, z2)
        z0, z1, z2 = math.exp(z0 - top), math.exp(z1 - top), math.exp(z2 - top)
        total = z0 + z1 + z2
        self.forecast = (z0 / total, z1 / total, z2 / total)

    def choose(self):
        """The reply that pays best if the forecast is right, or a random move.

        It is random if no reply promises enough, and while the replies that I wanted to play
        have been losing: then the opponent is ahead of me.
        """
        rock, paper, scissors = self.forecast
        payoffs = (scissors - paper, rock - scissors, paper - rock)
        best = max(payoffs)
        self.reply = payoffs.index(best)
        if best < EDGE or self.form < -NET:
            return random.choice(MOVES)
        return MOVES[self.reply]
'''
