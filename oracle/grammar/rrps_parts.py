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

    def learn(self, history):
        """Each model's guess, and how sure it is."""
        if self.now is not None:
            happened = ONES.take(np.array(history.newest).take(self.of_me), axis=0)
            self.counts[self.now] = self.counts.take(self.now, axis=0) * self.memory + happened
        mine, theirs = np.array(history.my_last), np.array(history.their_last)
        self.now = self.start + mine.take(self.mine) * self.their_size + theirs.take(self.theirs)
        counts = self.counts.take(self.now, axis=0)
        low, middle, high = np.sort(counts).T
        guesses = counts.argmax(axis=1)
        sure = self.LEADS.searchsorted(high - middle, side="right")
        unseen = high == 0.0
        guesses[unseen], sure[unseen] = NO_GUESS, UNSURE
        return guesses, sure
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
        copies = history.copies.get(name)
        if copies is None:
            base = 9 if self.source == "joint_code" else 3
            copies = history.copies[name] = Copies(base, self.longest)
        copies.look(getattr(history, self.source), len(history.mine))
        if copies.when < 0:
            return NO_GUESS, UNSURE
        moves = history.mine if self.of_me else history.theirs
        return moves[copies.when], min(copies.rank, 8)
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

ECHO = '''
class Echo:
    """Guesses a repeat after as many throws as have told best of late.

    For each number of throws up to the longest, it keeps in mind how often a side's move then was
    the move that followed.
    """

    LONGEST = 20
    SHARES = np.array((0.4, 0.5, 0.65, 0.85))  # of throws told right: steps of being sure

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.memory = of_me, memory
        self.source = "mine" if mine else "theirs"
        self.told = np.zeros(self.LONGEST)

    def learn(self, history):
        past, now = getattr(history, self.source), len(history.mine)
        if now < 2:
            return NO_GUESS, UNSURE
        before = np.frombuffer(past[-1 - self.LONGEST : -1], dtype=np.uint8)[::-1]
        told = self.told
        told *= self.memory
        told[: len(before)] += before == history.newest[self.of_me]
        best = int(told.argmax())
        share = (1.0 - self.memory) * told[best]
        return past[-1 - best], int(self.SHARES.searchsorted(share))
'''

LEADER = '''
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

RESULT = '''
class Result:
    """Counts how a side turns from one side's last move, after how the last throws ended.

    Sees players who stay when they win, who change when they lose, who give way in the end.
    """

    def __init__(self, of_me, mine, theirs, memory):
        self.of_me, self.memory = of_me, memory
        self.source = "mine" if mine else "theirs"
        self.size, self.results = 3 ** max(mine, theirs), 0
        self.table, self.row, self.base = {}, None, 0

    def learn(self, history):
        theirs, mine = history.newest
        row = self.row
        if row is not None:
            row[:] = [self.memory * count for count in row]
            row[(history.newest[self.of_me] - self.base) % 3] += 1.0
        self.results = (3 * self.results + (mine - theirs) % 3) % self.size
        self.base = mine if self.source == "mine" else theirs
        row = self.row = self.table.get(self.results)
        if row is None:
            self.row = self.table[self.results] = [0.0, 0.0, 0.0]
            return NO_GUESS, UNSURE
        turn, sure = leader(row)
        return (self.base + turn) % 3, sure
'''

PREDICTORS = {
    "match": ("LongestMatch", MATCH),
    "lag": ("Lag", LAG),
    "rank": ("Rank", RANK),
    "result": ("Result", RESULT),
    "echo": ("Echo", ECHO),
}
"""Kind of a part that looks at moves, other than a context -> name and text of its class."""
NEED_LEADER = {"rank", "result"}
