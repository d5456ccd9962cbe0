"""Leduc players that remember: moods, switches, learners, and players who model the opponent.

Each is made with a random.Random; `weights(see)` gives the weights of fold, call and raise, and
`saw(past)` tells it how a hand ended.
"""

from __future__ import annotations

import math

from grammar_leduc_players import (
    CALL,
    FOLD,
    RAISE,
    bluffer,
    bluffs,
    by_the_book,
    coin,
    drunk,
    equity,
    maniac,
    mix,
    pressure,
    rock,
    sticky,
    tilted,
)


class AdaptivePolicy:
    """Plays by what it remembers of earlier hands; nothing yet."""

    def __init__(self, rng):
        self.rng = rng
        self.begin()

    def begin(self):
        """What it knows at first."""

    def saw(self, past):
        """Learns from a hand."""


class Switch(AdaptivePolicy):
    """Plays one way for some hands, then another, and so on."""

    every, ways = 50, (rock, maniac)

    def weights(self, see):
        return self.ways[see.hand // self.every % len(self.ways)](see)


class Moods(AdaptivePolicy):
    """Each hand in a mood: patient, wild or sleepy."""

    def begin(self):
        self.mood = by_the_book

    def saw(self, past):
        self.mood = self.rng.choice((by_the_book, by_the_book, drunk, sticky))

    def weights(self, see):
        return self.mood(see)


class Tilt(AdaptivePolicy):
    """Solid until it loses a big pot, then wild for five hands."""

    def begin(self):
        self.angry = 0

    def saw(self, past):
        self.angry = 5 if past.won <= -7 else max(0, self.angry - 1)

    def weights(self, see):
        return drunk(see) if self.angry else by_the_book(see)


class Careful(AdaptivePolicy):
    """Tight while ahead, loose while behind."""

    def weights(self, see):
        return rock(see) if see.score > 10 else pressure(see) if see.score < -10 else sticky(see)


class WinStay(AdaptivePolicy):
    """Keeps its way of playing while that wins, draws another after a loss."""

    ways = (rock, pressure, sticky, bluffer)

    def begin(self):
        self.way = self.rng.choice(self.ways)

    def saw(self, past):
        if past.won < 0 and self.rng.random() < 0.5:
            self.way = self.rng.choice(self.ways)

    def weights(self, see):
        return self.way(see)


class Mirror(AdaptivePolicy):
    """Tit for tat: raises after hands in which the other raised, else plays softly."""

    def begin(self):
        self.raised = False

    def saw(self, past):
        self.raised = any(letter == "R" for _, letter in past.theirs())

    def weights(self, see):
        if self.raised:
            return RAISE if see.power >= 1 else CALL
        return RAISE if see.pair else CALL


class Grudge(AdaptivePolicy):
    """Folds weak hands to raises until it was shown a bluff; then calls everything for a while."""

    def begin(self):
        self.wary = 0

    def saw(self, past):
        bluff = past.shown == 0 and past.public != 0 and any(m == "R" for _, m in past.theirs())
        self.wary = 12 if bluff else max(0, self.wary - 1)

    def weights(self, see):
        if see.pair or (see.rank == 2 and not see.after):
            return RAISE
        if self.wary:
            return CALL
        return FOLD if see.owed and see.power < 2 else CALL


class FoldWatcher(AdaptivePolicy):
    """Counts how often the other folds to raises; bluffs more the more it does."""

    def begin(self):
        self.folded, self.faced = 1.0, 3.0

    def saw(self, past):
        for before, letter in past.theirs():
            if before.endswith("R"):
                self.faced += 1
                self.folded += letter == "F"

    def weights(self, see):
        rate = self.folded / self.faced
        if see.power >= 2:
            return RAISE
        if rate > 0.5 and self.rng.random() < rate:
            return RAISE
        return CALL if see.power == 1 or not see.owed else mix(0.7, 0.3, 0.0)


class RaiseWatcher(AdaptivePolicy):
    """Counts how often the other raises; calls down players who raise a lot."""

    def begin(self):
        self.raised, self.moved = 1.0, 3.0

    def saw(self, past):
        for _, letter in past.theirs():
            self.moved += 1
            self.raised += letter == "R"

    def weights(self, see):
        rate = self.raised / self.moved
        need = 0.75 - rate
        chance = equity(see)
        if chance > 0.72 or (rate < 0.15 and chance > 0.55):
            return RAISE
        return CALL if chance > need or not see.owed else FOLD


class ShowdownReader(AdaptivePolicy):
    """Remembers which cards the other raised with and folds hands that do not beat them."""

    def begin(self):
        self.cards = [1.0, 1.0, 2.0, 2.0]

    def saw(self, past):
        if past.shown is not None and any(letter == "R" for _, letter in past.theirs()):
            self.cards[3 if past.shown == past.public else past.shown] += 1.0

    def weights(self, see):
        if not see.owed:
            return RAISE if see.power >= 2 else CALL
        total = sum(self.cards)
        beaten = sum(self.cards[: see.power]) + 0.5 * self.cards[see.power]
        if beaten / total > 0.65:
            return RAISE
        return CALL if beaten / total > see.owed / (see.pot + see.owed) else FOLD


class Adjuster(AdaptivePolicy):
    """Balanced play, tilted towards what the other's folds and raises ask for."""

    strength = 1.0

    def begin(self):
        self.even = tilted()
        self.folds, self.calls, self.raises = 6.0, 14.0, 8.0

    def saw(self, past):
        for before, letter in past.theirs():
            self.raises += letter == "R"
            self.calls += letter == "C"
            self.folds += letter == "F" and before.endswith("R")

    def weights(self, see):
        total = self.folds + self.calls + self.raises
        fold, call, bet = self.even(see)
        bolder = (self.folds / total / 0.21) ** self.strength
        meeker = (self.raises / total / 0.29) ** self.strength
        return fold / meeker, call, bet * (bolder if see.power < 2 else 1.0)


class Bandit(AdaptivePolicy):
    """Exponential weights over ways to play, by what each hand won."""

    ways, eta = (rock, pressure, sticky, bluffer, by_the_book), 0.08

    def begin(self):
        self.gains = [0.0] * len(self.ways)
        self.choose()

    def choose(self):
        chances = [math.exp(self.eta * gain) for gain in self.gains]
        self.now = self.rng.choices(range(len(self.ways)), chances)[0]

    def saw(self, past):
        self.gains[self.now] += past.won
        self.choose()

    def weights(self, see):
        return self.ways[self.now](see)


class Thompson(Bandit):
    """Draws its way to play by what it has won so far, more boldly where little is known."""

    def choose(self):
        if not hasattr(self, "count"):
            self.count = [0] * len(self.ways)
        drawn = [
            self.rng.gauss(gain / (count + 1), 3.5 / math.sqrt(count + 1))
            for gain, count in zip(self.gains, self.count, strict=True)
        ]
        self.now = max(range(len(drawn)), key=drawn.__getitem__)
        self.count[self.now] += 1


class QTable(AdaptivePolicy):
    """Learns the worth of each move in each situation from what hands won."""

    rate, explore = 0.15, 0.1

    def begin(self):
        self.worth, self.done = {}, []

    def weights(self, see):
        key = (see.rank, see.public, min(see.raises, 2), see.owed > 0)
        row = self.worth.setdefault(key, [-2.0 + 0.5 * see.power, 0.5 * see.power - 1.0, -1.0])
        if self.rng.random() < self.explore:
            move = self.rng.randrange(3)
        else:
            move = max(range(3), key=row.__getitem__)
        if move == 0 and not see.owed:
            move = 1
        self.done.append((row, move))
        return (FOLD, CALL, RAISE)[move]

    def saw(self, past):
        for row, move in self.done:
            row[move] += self.rate * (past.won - row[move])
        self.done = []


class Regrets(AdaptivePolicy):
    """Balanced play to start with; moves that won gain weight in their situation."""

    def begin(self):
        self.even, self.gain, self.done = tilted(), {}, []

    def weights(self, see):
        key = (see.line, see.rank, see.public)
        gains = self.gain.setdefault(key, [0.0] * 3)
        start = self.even(see)
        found = [w * math.exp(0.1 * g) for w, g in zip(start, gains, strict=True)]
        legal = [found[0] if see.owed else 0.0, found[1] + 1e-6, found[2] * (see.raises < 2)]
        move = self.rng.choices(range(3), legal)[0]
        self.done.append((gains, move))
        return (FOLD, CALL, RAISE)[move]

    def saw(self, past):
        for gains, move in self.done:
            gains[move] += past.won
        self.done = []


class Counter(AdaptivePolicy):
    """Counts the other's moves by situation and card; looks one move ahead against the counts."""

    bluff = 0.0

    def begin(self):
        self.when = {}

    def row(self, line):
        key = ("/" in line, line.rpartition("/")[2].count("R"), line[-1:] == "R")
        return self.when.setdefault(key, [1.0, 3.0, 2.0])

    def saw(self, past):
        for before, letter in past.theirs():
            self.row(before)["FCR".index(letter)] += 1.0

    def weights(self, see):
        folds, calls, raises = self.row(see.line + "R")
        gives_up = folds / (folds + calls + raises)
        size, chance = (4 if see.after else 2), equity(see)
        own = see.pot / 2
        raising = gives_up * own + (1 - gives_up) * (2 * chance - 1) * (own + size + see.owed)
        shown = self.row(see.line[: -1 if see.owed else None])
        if see.owed:  # who raises seldom means it
            chance -= 0.25 * (1.0 - shown[2] / sum(shown))
        calling = (2 * chance - 1) * (own + see.owed)
        folding = -(own - see.owed / 2) if see.owed else -99.0
        if see.raises < 2 and raising >= max(calling, folding):
            return bluffs(self.bluff, RAISE)
        return CALL if calling >= folding else FOLD


class BoldCounter(Counter):
    """The same with a few bluffs."""

    bluff = 0.15


class Copycat(AdaptivePolicy):
    """Raises, calls and folds as often as the other does, better hands first."""

    def begin(self):
        self.seen = [2.0, 5.0, 3.0]

    def saw(self, past):
        for _, letter in past.theirs():
            self.seen["FCR".index(letter)] += 1.0

    def weights(self, see):
        total, chance = sum(self.seen), equity(see)
        if chance > 1 - self.seen[2] / total:
            return RAISE
        return FOLD if see.owed and chance < 1.5 * self.seen[0] / total else CALL


class Fading(AdaptivePolicy):
    """Begins honest and grows wilder hand by hand."""

    def weights(self, see):
        wild = see.hand / 100
        calm, loud = by_the_book(see), coin(see)
        return tuple((1 - wild) * a + wild * b / 3 for a, b in zip(calm, loud, strict=True))


class Cycle(AdaptivePolicy):
    """Bluffs every fourth hand, by the clock."""

    def weights(self, see):
        return RAISE if see.hand % 4 == 3 else sticky(see)


def subclass(base, **changes):
    """The same kind of player with other settings."""
    return type(base.__name__, (base,), changes)
