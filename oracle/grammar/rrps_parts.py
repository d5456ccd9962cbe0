"""The text of the predictors of rendered RRPS policies.

Each is a piece of Python that stands alone: the renderer picks what a genome names and leaves out
the rest.  The many Markov models are kept in arrays: each throw then takes a few operations on all
of them at once.
"""

from __future__ import annotations

CONTEXTS = '''
class Contexts:
    """Markov models: each counts what one side did after each combination of recent moves.

    For each model, how many recent moves of mine and of theirs make up the situation; with 0 and
    0 it is a plain frequency count.  Old counts fade by `memory` each time a situation returns.
[results]
[results]    Some look at how the last throws ended instead, and count how a side turned from my
[results]    last move or from theirs: players who stay when they win, who change when they lose.
    """

    LEADS = np.array((0.4, 1.1, 2.2, 4.5))  # over the second largest count: steps of being sure

    def __init__(self, models):
        of_me, mine, theirs, memory = np.array(models, dtype=float).T
        self.of_me, self.mine, self.theirs = (x.astype(int) for x in (of_me, mine, theirs))
        self.memory = memory[:, None]
        sizes = 3 ** (self.mine + self.theirs)
        self.their_size, self.start = 3**self.theirs, np.cumsum(sizes) - sizes
        self.counts = np.zeros((sizes.sum(), 3))  # situations of all models, one after the other
        self.now = None
[results]        # Results come after moves of mine in what a situation is looked up in.
[results]        turned = np.arange(len(models)) >= len(models) - len(RESULTS)
[results]        count = self.mine + self.theirs
[results]        self.turned_from = np.where(turned, (self.mine > 0).astype(int), 2)
[results]        self.mine = np.where(turned, len(History.SIZES) + count, self.mine)
[results]        self.theirs = np.where(turned, 0, self.theirs)
[results]        self.their_size = 3**self.theirs
[results]        self.base = 0  # the move that each counts from

    def learn(self, history):
        """Each model's guess, and how sure it is."""
        newest = history.numbers
        if self.now is not None:
[plain]            happened = ONES.take(newest.take(self.of_me), axis=0)
[results]            happened = ONES.take((newest.take(self.of_me) - self.base) % 3, axis=0)
            self.counts[self.now] = self.counts.take(self.now, axis=0) * self.memory + happened
[plain]        mine, theirs = np.array(history.my_last), np.array(history.their_last)
[results]        mine = np.array(history.my_last + history.last_results)
[results]        theirs = np.array(history.their_last)
        self.now = self.start + mine.take(self.mine) * self.their_size + theirs.take(self.theirs)
        counts = self.counts.take(self.now, axis=0)
        low, middle, high = np.sort(counts).T
        guesses = counts.argmax(axis=1)
[results]        self.base = newest.take(self.turned_from)
[results]        guesses = (guesses + self.base) % 3
        sure = self.LEADS.searchsorted(high - middle, side="right")
        unseen = high == 0.0
        np.putmask(guesses, unseen, NO_GUESS)
        np.putmask(sure, unseen, UNSURE)
        return guesses, sure
'''

MATCHES = '''
class Copies:
    """Remembers when each recent stretch of moves, of several lengths, was last seen."""

    LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30)

    def __init__(self, base, longest):
        self.lengths = [n for n in self.LENGTHS if n <= longest]
        self.sizes = [base**n for n in self.lengths]
        self.last_seen = [{} for _ in self.lengths]
        self.stretches = []
        self.when, self.rank = -1, 0  # what came after the longest copy, and its length's rank

    def look(self, code, now):
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


class Matches:
    """Find the latest earlier copy of the recent past and guess what came after it.

    Each tries a few lengths up to `mine` or `theirs` moves and believes the longest that is known.
    """

    def __init__(self, matches):
        self.copies, self.matches = {}, []  # by whose moves and the longest; of each match
        for of_me, mine, theirs, _ in matches:
            whose = 2 if mine and theirs else 1 if mine else 0
            longest = max(mine, theirs)
            copies = Copies(9 if whose == 2 else 3, longest)
            self.matches.append((self.copies.setdefault((whose, longest), copies), of_me))

    def learn(self, history):
        """Each one's guess, and how sure it is."""
        for (whose, _), copies in self.copies.items():
            copies.look(history.codes[whose], len(history.mine))
        guesses, sure = [], []
        for copies, of_me in self.matches:
            known = copies.when >= 0
            moves = history.mine if of_me else history.theirs
            guesses.append(moves[copies.when] if known else NO_GUESS)
            sure.append(min(copies.rank, 8) if known else UNSURE)
        return guesses, sure
'''

LAG = '''
class Lag:
    """Guesses a repeat of the move that one side made some throws ago."""

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.lag = of_me, max(mine, theirs)
        self.source = "mine" if mine else "theirs"

    def learn(self, history):
        past = getattr(history, self.source)
        return (past[-self.lag], 0) if len(past) >= self.lag else (NO_GUESS, UNSURE)
'''

ECHOES = '''
class Echoes:
    """Guess a repeat after as many throws as have told best of late.

    For each number of throws up to the longest, they keep in mind how often a side's move then was
    the move that followed.
    """

    LONGEST = 20
    SHARES = np.array((0.4, 0.5, 0.65, 0.85))  # of throws told right: steps of being sure

    def __init__(self, echoes):
        of_me, mine, _, memory = np.array(echoes, dtype=float).T
        self.of_me, self.source = of_me.astype(int), (mine > 0).astype(int)
        self.memory = memory[:, None]
        self.told = np.zeros((len(echoes), self.LONGEST))
        self.past = np.full((2, self.LONGEST), NO_GUESS)  # of them and of me, newest first
        self.each = np.arange(len(echoes))

    def learn(self, history):
        """Each one's guess, and how sure it is."""
        newest = history.numbers
        self.told *= self.memory
        self.told += self.past.take(self.source, axis=0) == newest.take(self.of_me)[:, None]
        self.past[:, 1:] = self.past[:, :-1]
        self.past[:, 0] = newest[:2]
        best = self.told.argmax(axis=1)
        told = (1.0 - self.memory[:, 0]) * self.told[self.each, best]
        return self.past[self.source, best], self.SHARES.searchsorted(told)
'''

RANK = '''
def leader(row):
    """The largest of three counts and how sure it is (0, a tie nearly, to 4)."""
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
            row[:] = [0.97 * count for count in row]
            row[history.newest[self.of_me]] += 1.0
        counts = self.counts
        if self.memory < 1.0:
            counts[:] = [self.memory * count for count in counts]
        counts[getattr(history, self.source)[-1]] += 1.0
        a, b, c = counts
        situation = ((a > b) - (a < b), (b > c) - (b < c), (a > c) - (a < c))
        row = self.row = self.table.get(situation)
        if row is None:
            self.row = self.table[situation] = [0.0, 0.0, 0.0]
            return NO_GUESS, UNSURE
        return leader(row)
'''

PREDICTORS = {
    "lag": ("Lag", LAG),
    "rank": ("Rank", RANK),
}
"""Kind of a part that is an object of its own -> name and text of its class."""
