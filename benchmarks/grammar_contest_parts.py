"""Building blocks of the kind that people hand in to rock-paper-scissors contests.

Written for this project from what is generally known of such contests; nothing was copied.  A
predictor is fed with `see(mine, theirs)` after each throw and says with `guess(target)` what a
side ("mine" or "theirs") will throw next, or None.  Move (m + 1) % 3 beats m.
"""

from __future__ import annotations


def argmax(values):
    return values.index(max(values))


class Finder:
    """Looks the recent past up in all that was played, longest stretch first.

    Keeps a text for the chosen sides; what followed the latest (or first) earlier copy is the
    guess.
    """

    def __init__(self, rng, sides="both", longest=20, shortest=1, first=False):
        self.sides, self.longest, self.shortest, self.first = sides, longest, shortest, first
        self.mine, self.theirs, self.text = [], [], ""
        self.place = None

    def see(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)
        code = {"both": 3 * mine + theirs, "mine": mine, "theirs": theirs}[self.sides]
        self.text += "abcdefghi"[code]
        self.place = None
        body = self.text[:-1]
        for length in range(min(self.longest, len(body)), self.shortest - 1, -1):
            tail = self.text[-length:]
            found = body.find(tail) if self.first else body.rfind(tail)
            if found >= 0:
                self.place = found + length
                return

    def guess(self, target):
        if self.place is None:
            return None
        return (self.mine if target == "mine" else self.theirs)[self.place]


class Table:
    """Counts what followed each combination of the last moves."""

    def __init__(self, rng, mine=1, theirs=1, decay=1.0, results=0, sample=False):
        self.rng, self.sizes, self.decay = rng, (mine, theirs, results), decay
        self.sample, self.past, self.key, self.counts = sample, [], None, {}

    def see(self, mine, theirs):
        if self.key is not None:
            for target, move in (("mine", mine), ("theirs", theirs)):
                row = self.counts.setdefault((target, self.key), [0.0] * 3)
                for other in range(3):
                    row[other] *= self.decay
                row[move] += 1.0
        self.past.append((mine, theirs, (mine - theirs) % 3))
        self.key = tuple(
            tuple(throw[side] for throw in self.past[len(self.past) - size :])
            for side, size in enumerate(self.sizes)
        )

    def guess(self, target):
        row = self.counts.get((target, self.key))
        if row is None:
            return None
        if self.sample:
            return self.rng.choices((0, 1, 2), row)[0]
        return argmax(row)


class Turns:
    """Counts how a move is turned against an earlier one of either side, with fading."""

    def __init__(self, rng, side="theirs", lag=1, decay=0.95):
        self.side, self.lag, self.decay = side, lag, decay
        self.past = {"mine": [], "theirs": []}
        self.counts = {"mine": [0.0] * 3, "theirs": [0.0] * 3}

    def see(self, mine, theirs):
        for target, move in (("mine", mine), ("theirs", theirs)):
            base = self.past[self.side]
            if len(base) >= self.lag:
                row = self.counts[target]
                for turn in range(3):
                    row[turn] *= self.decay
                row[(move - base[-self.lag]) % 3] += 1.0
        self.past["mine"].append(mine)
        self.past["theirs"].append(theirs)

    def guess(self, target):
        base = self.past[self.side]
        if len(base) < self.lag or not any(self.counts[target]):
            return None
        return (base[-self.lag] + argmax(self.counts[target])) % 3


class Often:
    """The most frequent move, of all or of the last few."""

    def __init__(self, rng, decay=1.0, window=0):
        self.decay, self.window = decay, window
        self.counts = {"mine": [0.0] * 3, "theirs": [0.0] * 3}
        self.past = []

    def see(self, mine, theirs):
        self.past.append((mine, theirs))
        for side, target in enumerate(("mine", "theirs")):
            row = self.counts[target]
            for move in range(3):
                row[move] *= self.decay
            row[(mine, theirs)[side]] += 1.0
            if self.window and len(self.past) > self.window:
                row[self.past[-self.window - 1][side]] -= 1.0

    def guess(self, target):
        return argmax(self.counts[target]) if self.past else None


class Tree:
    """Grows a tree of contexts as Lempel-Ziv compression does, and descends it as moves come."""

    def __init__(self, rng, sides="theirs", fresh=0):
        self.sides, self.fresh = sides, fresh
        self.root = self.node = {"count": {"mine": [0] * 3, "theirs": [0] * 3}, "next": {}}
        self.steps = 0

    def see(self, mine, theirs):
        self.node["count"]["mine"][mine] += 1
        self.node["count"]["theirs"][theirs] += 1
        code = {"both": (mine, theirs), "mine": mine, "theirs": theirs}[self.sides]
        self.steps += 1
        child = self.node["next"].get(code)
        if child is None or (self.fresh and self.steps % self.fresh == 0):
            self.node["next"].setdefault(
                code, {"count": {"mine": [0] * 3, "theirs": [0] * 3}, "next": {}}
            )
            child = self.root
        self.node = child

    def guess(self, target):
        row = self.node["count"][target]
        return argmax(row) if sum(row) else None


class Escapes:
    """The longest context of one side that was seen, backing off to shorter ones (PPM)."""

    def __init__(self, rng, longest=6, sides="both", least=1):
        self.longest, self.sides, self.least = longest, sides, least
        self.past, self.counts = [], {}

    def keys(self):
        for length in range(min(self.longest, len(self.past)), -1, -1):
            yield tuple(self.past[len(self.past) - length :])

    def see(self, mine, theirs):
        for key in self.keys():
            for target, move in (("mine", mine), ("theirs", theirs)):
                self.counts.setdefault((target, key), [0] * 3)[move] += 1
        self.past.append({"both": (mine, theirs), "mine": mine, "theirs": theirs}[self.sides])

    def guess(self, target):
        for key in self.keys():
            row = self.counts.get((target, key))
            if row is not None and sum(row) >= self.least:
                return argmax(row)
        return None


class Results:
    """Counts moves by the last results alone: who won how the last few throws ended."""

    def __init__(self, rng, length=3, decay=0.95):
        self.length, self.decay, self.past, self.counts, self.last = length, decay, [], {}, {}

    def see(self, mine, theirs):
        key = tuple(self.past[-self.length :])
        for target, move in (("mine", mine), ("theirs", theirs)):
            if target in self.last:
                row = self.counts.setdefault((target, key), [0.0] * 3)
                for turn in range(3):
                    row[turn] *= self.decay
                row[(move - self.last[target]) % 3] += 1.0
        self.last = {"mine": mine, "theirs": theirs}
        self.past.append((mine - theirs) % 3)

    def guess(self, target):
        row = self.counts.get((target, tuple(self.past[-self.length :])))
        return None if row is None else (self.last[target] + argmax(row)) % 3


class Echo:
    """Finds the lag at which a side's past repeats best, over the last throws."""

    def __init__(self, rng, longest=15, decay=0.9):
        self.decay, self.past = decay, {"mine": [], "theirs": []}
        self.scores = {target: [0.0] * (longest + 1) for target in self.past}

    def see(self, mine, theirs):
        for target, move in (("mine", mine), ("theirs", theirs)):
            past, scores = self.past[target], self.scores[target]
            for lag in range(1, len(scores)):
                scores[lag] *= self.decay
                if len(past) >= lag:
                    scores[lag] += 1.0 if past[-lag] == move else -0.5
            past.append(move)

    def guess(self, target):
        lag, past = argmax(self.scores[target]), self.past[target]
        return past[-lag] if lag and len(past) >= lag else None
