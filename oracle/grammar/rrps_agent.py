"""The text around the predictors of rendered RRPS policies: what is kept, and who decides.

A line that begins with words in brackets, such as `[contexts]`, is kept only where a policy has
that; see `rrps_render`. `[1]` and `[3]` are the numbers of records that judge a guess, `[pace]`
is one rate of learning and `[paces]` are several.  `[edge alone]` is where the move is random if no
reply promises enough, `[net alone]` where it is so while replies have been losing, `[both]` where
for either; `[gate]` is any of these and `[sure]` none, `[net]` the last two and `[no net]` neither.
"""

from __future__ import annotations

HEADER = """
[pace]import math
import random

import numpy as np

MOVES = ("ROCK", "PAPER", "SCISSORS")
INDEX = {move: number for number, move in enumerate(MOVES)}  # move m is beaten by (m + 1) % 3
NO_GUESS = 3  # in place of a move
STEPS = 10  # how sure a guess is: 0 to 8, or
UNSURE = 9  # there is none
ONES = np.eye(3)
TURN = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 0, 0]])  # (move - guess) % 3 by guess
SILENT = np.array([[False] * 3] * 3 + [[True] * 3])  # by guess: says nothing of any move
"""

HISTORY = '''
class History:
    """What was played so far: `mine` and `theirs` hold moves 0, 1, 2; `newest` is (theirs, mine).

    `numbers` is the same as an array, with a 0 behind.
[matches]
[matches]    `codes` are the last LENGTH throws of them, of me and of both, each read as one number
[matches]    (base 3, 3 and 9) with the newest in the lowest digit.
[contexts]
[contexts]    `my_last[k]` and `their_last[k]` are the last k moves as one number.
[results]    `last_results[k]` are the last k results: draws, wins of mine and of theirs.
    """

[matches]    LENGTH = 30
[matches]    SINGLE, DOUBLE = 3**LENGTH, 9**LENGTH
[contexts]    SIZES = (1, 3, 9, 27, 81, 243, 729)
[number]
    def __init__(self):
        self.mine, self.theirs = bytearray(), bytearray()
[matches]        self.codes = (0, 0, 0)
[contexts]        self.my_code = self.their_code = 0
[results]        self.results = 0

    def append(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)
        self.newest, self.numbers = (theirs, mine), np.array((theirs, mine, 0))
[matches]        of_them, of_me, of_both = self.codes
[matches]        of_them = (3 * of_them + theirs) % self.SINGLE
[matches]        of_me = (3 * of_me + mine) % self.SINGLE
[matches]        of_both = (9 * of_both + 3 * mine + theirs) % self.DOUBLE
[matches]        self.codes = (of_them, of_me, of_both)
[contexts]        self.my_code = (3 * self.my_code + mine) % 729
[contexts]        self.their_code = (3 * self.their_code + theirs) % 729
[contexts]        self.my_last = [self.my_code % size for size in self.SIZES]
[contexts]        self.their_last = [self.their_code % size for size in self.SIZES]
[results]        self.results = (3 * self.results + (mine - theirs) % 3) % 729
[results]        self.last_results = [self.results % size for size in self.SIZES]
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
    PLANS = np.array(((0, 1, 2), (1, 2, 0), (2, 0, 1), (3, 3, 3)))  # by guess
    # What a plan of 0, 1, 2, or none, would have won against each move.
    WON = np.array(((0.0, 1.0, -1.0, 0.0), (-1.0, 0.0, 1.0, 0.0), (1.0, -1.0, 0.0, 0.0)))

    def __init__(self, choosers, groups):
        of_me, groups_in, memory = zip(*choosers)
        self.meets, memory = 1 - np.array(of_me, dtype=int), np.array(memory)[:, None, None]
        wiped = memory == 1.0
        self.gains = np.where(wiped, np.maximum(self.WON, 0.0), self.WON)  # (chooser, met, plan)
        self.fades = np.where(wiped, self.WON >= 0.0, memory)
        allowed = np.array([[group in chosen for group in groups] for chosen in groups_in])
        heard = allowed.any(axis=0)  # by anybody
        self.heard = np.flatnonzero(heard if heard.any() else ~heard)
        self.left_out = np.where(allowed[:, self.heard], 0.0, -np.inf)[:, :, None]
        self.scores = np.zeros((len(choosers), len(self.heard), 3))
        self.plans, self.each = np.full((len(self.heard), 3), NO_GUESS), np.arange(len(choosers))

    def learn(self, history, guesses):
        """Scores the last plans and makes new ones; returns guesses, and how sure they are."""
        met, guesses = history.numbers.take(self.meets), guesses.take(self.heard)
        self.scores *= self.fades[self.each, met].take(self.plans, axis=1)
        self.scores += self.gains[self.each, met].take(self.plans, axis=1)
        self.plans = self.PLANS.take(guesses, axis=0)
        scores = self.scores + self.left_out
        if NO_GUESS in guesses.tolist():
            scores[:, guesses == NO_GUESS] = -np.inf
        scores = scores.reshape(len(scores), -1)
        best, top = scores.argmax(axis=1), scores.max(axis=1)
        guesses, sure = self.plans.take(best), self.SCORES.searchsorted(top)
        if top.min() == -np.inf:
            nothing = top == -np.inf
            guesses[nothing], sure[nothing] = NO_GUESS, UNSURE
        return guesses, sure
'''

AGENT_BODY = '''
    def __init__(self):
        self.history = History()
        of_me = []  # of each predictor
[plain]        self.contexts = Contexts(CONTEXTS)
[plain]        of_me += [settings[0] for settings in CONTEXTS]
[results]        self.contexts = Contexts(CONTEXTS + RESULTS)
[results]        of_me += [settings[0] for settings in CONTEXTS + RESULTS]
[matches]        self.matches = Matches(MATCHES)
[matches]        of_me += [settings[0] for settings in MATCHES]
[echoes]        self.echoes = Echoes(ECHOES)
[echoes]        of_me += [settings[0] for settings in ECHOES]
[others]        self.predictors = [kind(*settings) for kind, *settings in PREDICTORS]
[others]        of_me += [predictor.of_me for predictor in self.predictors]
[choosers]        self.choosers = Choosers(CHOOSERS, GROUPS)
[choosers]        of_me += [settings[0] for settings in CHOOSERS]
        count = len(of_me)
        # A record says how often they played the guess, one ahead of it and two ahead (`shares`),
[1]        # the logarithms of that, and how many throws were counted.  A predictor has a record for
[1]        # each step of being sure and each way in which its last guess was off.
[3]        # and how many throws were counted.  A predictor has a record of all throws, one for each
[3]        # way in which its last guess was off and each step of being sure, and one for each such
[3]        # way and each result of the last throw.
        # At first a guess of theirs is trusted a little, and they are expected to beat mine.
        rest = (1.0 - TRUST) / 2
        first = [[rest, TRUST, rest] if of else [TRUST, rest, rest] for of in of_me]
[1]        self.shares = np.repeat(first, 3 * STEPS, axis=0)
[1]        self.logs = np.log(self.shares)
[3]        self.shares = np.repeat(first, RECORDS, axis=0).ravel()
[1]        self.counted = np.full(count * 3 * STEPS, PATIENCE)
[3]        self.counted = np.full(count * RECORDS, PATIENCE)
        # Of each predictor: its first record, its last guess and the record that this stood in,
        # its last mistake, the logarithms it gave to each move, and its weight.
[3]        # A guess stands in three records, one of each sort: `places` are those of the shares
[3]        # that these give to each move, and `given` the shares.
[1]        self.first = np.arange(count) * 3 * STEPS
[1]        self.guesses, self.records = np.full(count, NO_GUESS), self.first + UNSURE
[3]        self.first = np.arange(count) * RECORDS
[3]        self.guesses, self.records = np.full(count, NO_GUESS), np.array([self.first] * 3)
[3]        self.places = 3 * self.records[:, :, None] + np.arange(3)
[3]        self.given = self.shares.take(self.places)
        self.mistakes = np.zeros(count, dtype=int)
        self.said = np.zeros((count, 3))
[pace]        self.weights = np.full(count, FIRST_WEIGHT)
[paces]        # There is a set of weights for each rate; `standing` is how well each has foretold.
[paces]        self.weights = np.full((len(RATES), count), FIRST_WEIGHT)
[paces]        self.forecasts = np.full((len(RATES), 3), 1 / 3)
[paces]        self.standing = np.zeros(len(RATES))
        self.forecast = [1 / 3] * 3
[net]        self.reply, self.form = 0, 0.0  # what I wanted to play, and what that has been worth

    def act(self, observation):
        if observation["my_action"] is None:
            return random.choice(MOVES)
        mine, theirs = INDEX[observation["my_action"]], INDEX[observation["opponent_action"]]
        self.history.append(mine, theirs)
[net]        self.form = FORM_MEMORY * self.form + (self.reply - theirs + 1) % 3 - 1
        self.score(theirs)
        self.blend(*self.listen())
        return self.choose()

    def score(self, theirs):
        """Judges the last guesses by what they really played.

        The weights follow the gradient of the logarithm of the chance that was given to it.
        """
[pace]        self.weights += RATE * (self.said[:, theirs] - self.said @ np.array(self.forecast))
[paces]        self.standing = FADING * self.standing + np.log(self.forecasts[:, theirs] + 0.003)
[paces]        expected = self.forecasts @ self.said.T
[paces]        self.weights += RATES[:, None] * (self.said[:, theirs] - expected)
        np.maximum(self.weights, 0.0, out=self.weights)
        off = TURN[:, theirs].take(self.guesses)
[1]        np.copyto(self.mistakes, off, where=self.guesses != NO_GUESS)
[3]        heard = self.guesses != NO_GUESS
[3]        np.copyto(self.mistakes, off, where=heard)
        records = self.records
        counted = self.counted.take(records)
[1]        step = np.maximum(1.0 / counted, FORGET)[:, None]
[1]        shares = (1.0 - step) * self.shares.take(records, axis=0) + step * ONES.take(off, axis=0)
[1]        self.counted[records], self.shares[records] = counted + 1.0, shares
[1]        self.logs[records] = np.log(shares + 0.005)
[3]        step = heard * np.maximum(1.0 / counted, FORGET)
[3]        self.given *= (1.0 - step)[:, :, None]
[3]        self.given[:, :, theirs] += step
[3]        self.counted.put(records, counted + heard)
[3]        self.shares.put(self.places, self.given)

    def listen(self):
        """Lets every predictor learn; returns their guesses, and how sure they are."""
        guesses, sure = np.empty((2, len(self.first)), dtype=int)
        told = []  # of one sort of predictors after the other
[contexts]        told.append(self.contexts.learn(self.history))
[matches]        told.append(self.matches.learn(self.history))
[echoes]        told.append(self.echoes.learn(self.history))
[others]        told.append(list(zip(*[one.learn(self.history) for one in self.predictors])))
        end = 0
        for some, how_sure in told:
            start, end = end, end + len(some)
            guesses[start:end], sure[start:end] = some, how_sure
[choosers]        guesses[end:], sure[end:] = self.choosers.learn(self.history, guesses[:end])
        return guesses, sure

    def blend(self, guesses, sure):
        """Forecasts the opponent's next move.

        The forecast's logarithm is a weighted sum of the predictors' logarithms.
[3]        Theirs are means over a predictor's records: wide ones learn soon, narrow tell more.
[paces]        The forecasts of each set of weights are mixed by how well they have foretold.
        """
        self.guesses = guesses
[1]        self.records = self.first + STEPS * self.mistakes + sure
[1]        said = self.logs.take(3 * self.records[:, None] + TURN.take(guesses, axis=0))
[3]        theirs, mine = self.history.newest
[3]        by_sure = self.first + 1 + STEPS * self.mistakes + sure
[3]        by_result = self.first + 1 + 3 * STEPS + 3 * self.mistakes + (mine - theirs) % 3
[3]        self.records = np.array((self.first, by_sure, by_result))
[3]        self.places = 3 * self.records[:, :, None] + TURN.take(guesses, axis=0)
[3]        self.given = self.shares.take(self.places)
[3]        one, two, three = self.given + 0.005
[3]        said = np.log(one * two * three) / 3
        np.putmask(said, SILENT.take(guesses, axis=0), 0.0)
        self.said = said
[pace]        logs = (self.weights @ said).tolist()
[pace]        most = max(logs)
[pace]        chances = [math.exp(x - most) for x in logs]
[pace]        total = sum(chances)
[pace]        self.forecast = [chance / total for chance in chances]
[paces]        logs = self.weights @ said
[paces]        chances = np.exp(logs - logs.max(axis=1)[:, None])
[paces]        self.forecasts = chances / chances.sum(axis=1)[:, None]
[paces]        trusted = np.exp(self.standing - self.standing.max())
[paces]        self.forecast = (trusted @ self.forecasts / trusted.sum()).tolist()

    def choose(self):
[gate]        """The reply that pays best if the forecast is right, or a random move.
[sure]        """The reply that pays best if the forecast is right."""
[gate]
[edge alone]        It is random if no reply promises enough.
[net alone]        It is random while the replies that I wanted to play have been losing: then the
[net alone]        opponent is ahead of me.
[both]        It is random if no reply promises enough, and while the replies that I wanted to play
[both]        have been losing: then the opponent is ahead of me.
[gate]        """
        rock, paper, scissors = self.forecast
        payoffs = (scissors - paper, rock - scissors, paper - rock)
        best = max(payoffs)
[net]        self.reply = payoffs.index(best)
[edge alone]        if best < EDGE:
[net alone]        if self.form < -NET:
[both]        if best < EDGE or self.form < -NET:
[gate]            return random.choice(MOVES)
[net]        return MOVES[self.reply]
[no net]        return MOVES[payoffs.index(best)]
'''
