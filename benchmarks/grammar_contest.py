"""Rock-paper-scissors programs as people hand them in to contests, in two halves.

Written for this project from what is generally known of such contests; nothing was copied, and
no member of the arena's evaluation population was looked at.  Every other program of `PROGRAMS`
belongs to the development half; the others were held out: nothing was tuned on them.

A player is made with a random.Random and asked with `move(me, op)`: its own and its opponent's
past moves, as lists of 0, 1, 2, where (m + 1) % 3 beats m.
"""

from __future__ import annotations

import math

from grammar_contest_parts import (
    Echo,
    Escapes,
    Finder,
    Often,
    Results,
    Table,
    Tree,
    Turns,
    argmax,
)
from grammar_contest_simple import SIMPLE
from grammar_contest_strong import STRONG


class Guesser:
    """Beats what one predictor guesses; random where it has no guess, and at times anyway."""

    def __init__(self, rng, make, turn=1, noise=0.0, target="theirs", rest=None):
        self.rng, self.part, self.turn, self.noise = rng, make(rng), turn, noise
        self.target, self.rest = target, rest

    def move(self, me, op):
        if me:
            self.part.see(me[-1], op[-1])
        guess = self.part.guess(self.target) if me else None
        if guess is None or self.rng.random() < self.noise:
            return self.rng.randrange(3) if self.rest is None else self.rest
        return (guess + self.turn) % 3


class Scorer:
    """Many guesses, each turned three ways; plays the candidate that scores best.

    Scores fade; a candidate that would have lost may be set back to nothing, or be punished more
    than a win is worth.
    """

    def __init__(
        self,
        rng,
        make,
        decay=0.9,
        sides=("theirs", "mine"),
        lost=-1.0,
        drop=0.0,
        soft=0.0,
        need=0.0,
    ):
        self.rng, self.parts, self.decay, self.sides = rng, make(rng), decay, sides
        self.lost, self.drop, self.soft, self.need = lost, drop, soft, need
        self.scores = [0.0] * (3 * len(sides) * len(self.parts))
        self.wanted = [None] * len(self.scores)

    def update(self, me, op):
        theirs = op[-1]
        for place, want in enumerate(self.wanted):
            if want is None:
                continue
            result = (want - theirs + 1) % 3 - 1
            score = self.scores[place] * self.decay
            if result < 0 and self.drop and self.rng.random() < self.drop:
                score = 0.0
            self.scores[place] = score + (self.lost if result < 0 else result)
        for part in self.parts:
            part.see(me[-1], theirs)
        self.wanted = [
            None if guess is None else (guess + turn) % 3
            for part in self.parts
            for side in self.sides
            for guess in (part.guess(side),)
            for turn in ((1, 2, 0) if side == "theirs" else (2, 0, 1))
        ]

    def best(self):
        """(candidate, score), None where nothing scores enough."""
        able = [i for i, want in enumerate(self.wanted) if want is not None]
        if not able:
            return None, 0.0
        if self.soft:
            weights = [math.exp(min(self.soft * self.scores[i], 50.0)) for i in able]
            place = self.rng.choices(able, weights)[0]
        else:
            place = max(able, key=self.scores.__getitem__)
        return self.wanted[place], self.scores[place]

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        self.update(me, op)
        want, score = self.best()
        return self.rng.randrange(3) if want is None or score < self.need else want


class Council:
    """Several scorers with different tempers; the one that did best lately speaks."""

    def __init__(self, rng, make, tempers, memory=0.97):
        self.rng, self.memory = rng, memory
        self.scorers = [Scorer(rng, make, **temper) for temper in tempers]
        self.form, self.said = [0.0] * len(tempers), [None] * len(tempers)

    def move(self, me, op):
        if me:
            for place, said in enumerate(self.said):
                result = 0.0 if said is None else (said - op[-1] + 1) % 3 - 1
                self.form[place] = self.form[place] * self.memory + result
        self.said = [scorer.move(me, op) for scorer in self.scorers]
        return self.said[argmax(self.form)]


class Votes:
    """A majority of predictors."""

    def __init__(self, rng, make, weights=None):
        self.rng, self.parts = rng, make(rng)
        self.weights = weights or [1.0] * len(self.parts)

    def move(self, me, op):
        votes = [0.0] * 3
        for part, weight in zip(self.parts, self.weights, strict=True):
            if me:
                part.see(me[-1], op[-1])
            guess = part.guess("theirs") if me else None
            if guess is not None:
                votes[guess] += weight
        top = [move for move in range(3) if votes[move] == max(votes)]
        return (self.rng.choice(top) + 1) % 3


class Ladder:
    """Level k: what the opponent would play if it guessed me, and I it, some levels deep.

    The level is drawn or chosen by what it would have won.
    """

    def __init__(self, rng, make, levels=4, decay=0.93, draw=False):
        self.rng, self.part, self.levels = rng, make(rng), levels
        self.decay, self.draw = decay, draw
        self.scores, self.plans = [0.0] * levels, [None] * levels

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        for level, plan in enumerate(self.plans):
            self.scores[level] *= self.decay
            if plan is not None:
                self.scores[level] += (plan - op[-1] + 1) % 3 - 1
        self.part.see(me[-1], op[-1])
        theirs, mine = self.part.guess("theirs"), self.part.guess("mine")
        if theirs is None or mine is None:
            return self.rng.randrange(3)
        even, odd = (theirs + 1) % 3, (mine + 2) % 3
        self.plans = [
            ((even if k % 2 == 0 else odd) + 2 * (k // 2)) % 3 for k in range(self.levels)
        ]
        if self.draw:
            return self.rng.choice(self.plans)
        return self.plans[argmax(self.scores)]


class Arms:
    """A bandit over whole players: Thompson sampling with fading wins and losses."""

    def __init__(self, rng, makers, fade=0.95, greedy=False):
        self.rng, self.players, self.fade = rng, [make(rng) for make in makers], fade
        self.record, self.said = [[1.0, 1.0] for _ in makers], [None] * len(makers)
        self.greedy = greedy

    def move(self, me, op):
        if me:
            for record, said in zip(self.record, self.said, strict=True):
                result = (said - op[-1] + 1) % 3 - 1
                record[0] = 1.0 + (record[0] - 1.0) * self.fade + (result > 0)
                record[1] = 1.0 + (record[1] - 1.0) * self.fade + (result < 0)
        self.said = [player.move(me, op) for player in self.players]
        if self.greedy:
            drawn = [win / (win + loss) for win, loss in self.record]
        else:
            drawn = [self.rng.betavariate(win, loss) for win, loss in self.record]
        return self.said[argmax(drawn)]


class Guarded:
    """Another player, until that loses: then random, or another player, for a while."""

    def __init__(self, rng, make, other=None, loss=5, window=20, rest=15):
        self.rng, self.player = rng, make(rng)
        self.other = other(rng) if other else None
        self.loss, self.window, self.rest, self.left, self.past = loss, window, rest, 0, []

    def move(self, me, op):
        if me:
            self.past.append((me[-1] - op[-1] + 1) % 3 - 1)
        said = self.player.move(me, op)
        other = self.other.move(me, op) if self.other else self.rng.randrange(3)
        if self.left == 0 and sum(self.past[-self.window :]) <= -self.loss:
            self.left, self.past = self.rest, []
        if self.left:
            self.left -= 1
            return other
        return said


class SecondGuess:
    """Expects the opponent to look me up as a given player would, and beats its answer."""

    def __init__(self, rng, make):
        self.player = make(rng)

    def move(self, me, op):
        return (self.player.move(op, me) + 1) % 3


def finders(lengths, sides=("both", "theirs", "mine")):
    return lambda rng: [Finder(rng, side, length) for side in sides for length in lengths]


def tables(*orders, decay=1.0):
    return lambda rng: [Table(rng, a, b, decay) for a, b in orders]


def medley(rng):
    return [
        Finder(rng, "both", 12),
        Finder(rng, "theirs", 12),
        Finder(rng, "mine", 12),
        Often(rng, 0.95),
        Table(rng, 1, 1, 0.97),
        Table(rng, 0, 2, 0.9),
        Turns(rng, "theirs"),
        Turns(rng, "mine"),
    ]


def small_medley(rng):
    return [Finder(rng, "both", 8), Often(rng, 0.9), Table(rng, 0, 1), Results(rng, 2)]


def big_medley(rng):
    return [
        *finders((3, 6, 12, 25))(rng),
        *tables((1, 1), (2, 2), (0, 3), (3, 0), decay=0.98)(rng),
        Often(rng),
        Often(rng, window=20),
        Turns(rng, "theirs", 2, 0.9),
        Turns(rng, "mine", 2, 0.9),
        Results(rng, 3),
        Tree(rng, "both"),
    ]


def player(kind, *settings, **named):
    return lambda rng: kind(rng, *settings, **named)


def guesser(kind, *settings, turn=1, noise=0.0, target="theirs", **named):
    return lambda rng: Guesser(rng, lambda r: kind(r, *settings, **named), turn, noise, target)


TEMPERS = (
    {"decay": 0.8},
    {"decay": 0.95},
    {"decay": 1.0, "drop": 1.0},
    {"decay": 0.9, "lost": -2.0},
    {"decay": 0.99, "drop": 0.3},
)

PROGRAMS = [
    *SIMPLE,
    *STRONG,
    ("finds both, 20", guesser(Finder, "both", 20)),
    ("finds theirs, 10", guesser(Finder, "theirs", 10)),
    ("finds both, 5", guesser(Finder, "both", 5)),
    ("finds theirs, 4, first", guesser(Finder, "theirs", 4, 2, True)),
    ("finds mine, 15", guesser(Finder, "mine", 15)),
    ("finds both, 40, noise", guesser(Finder, "both", 40, 1, noise=0.15)),
    ("finds both, own move", guesser(Finder, "both", 15, turn=2, target="mine")),
    ("finds mine, own move", guesser(Finder, "mine", 8, turn=2, target="mine")),
    ("table 1 1", guesser(Table, 1, 1)),
    ("table 0 3", guesser(Table, 0, 3, 0.95)),
    ("table 2 2", guesser(Table, 2, 2, 0.9)),
    ("table 2 0, drawn", guesser(Table, 2, 0, sample=True)),
    ("table 0 1, results", guesser(Table, 0, 1, 0.95, 2)),
    ("table of results", guesser(Table, 0, 0, 1.0, 4)),
    ("turns on theirs", guesser(Turns, "theirs", 1, 0.9)),
    ("turns on mine", guesser(Turns, "mine", 1, 0.97)),
    ("turns, lag 2", guesser(Turns, "mine", 2, 0.95, noise=0.1)),
    ("often, window 10", guesser(Often, 1.0, 10)),
    ("often, fading", guesser(Often, 0.9)),
    ("often, own", guesser(Often, 0.97, turn=2, target="mine")),
    ("compresses", guesser(Tree, "theirs")),
    ("compresses both", guesser(Tree, "both", 200)),
    ("backs off from 6", guesser(Escapes, 6)),
    ("backs off, theirs", guesser(Escapes, 8, "theirs", 2)),
    ("results, 3", guesser(Results, 3)),
    ("results, 5", guesser(Results, 5, 1.0, noise=0.1)),
    ("echo", guesser(Echo, 15)),
    ("echo, short", guesser(Echo, 6, 0.8)),
    ("votes", player(Votes, medley)),
    ("votes of tables", player(Votes, tables((0, 1), (1, 1), (0, 2), (2, 2), (0, 3)))),
    ("scorer of finders", player(Scorer, finders((10,)), 0.85)),
    ("scorer, small", player(Scorer, small_medley, 0.9)),
    ("scorer, medley", player(Scorer, medley, 0.95)),
    ("scorer, drops", player(Scorer, medley, 1.0, drop=1.0)),
    ("scorer, theirs only", player(Scorer, medley, 0.92, ("theirs",))),
    ("scorer, big", player(Scorer, big_medley, 0.94)),
    ("scorer, harsh", player(Scorer, big_medley, 0.97, lost=-2.0)),
    ("scorer, soft", player(Scorer, medley, 0.95, soft=0.4)),
    ("scorer, wants proof", player(Scorer, medley, 0.93, need=2.0)),
    ("scorer of tables", player(Scorer, tables((1, 0), (0, 1), (1, 1), (2, 2), decay=0.96), 0.97)),
    ("scorer of lengths", player(Scorer, finders((2, 4, 8, 16)), 0.9, drop=0.5)),
    ("scorer, mine only", player(Scorer, small_medley, 0.9, ("mine",))),
    ("council", player(Council, small_medley, TEMPERS[:3])),
    ("council, medley", player(Council, medley, TEMPERS)),
    ("council of finders", player(Council, finders((4, 20)), TEMPERS[:4], 0.99)),
    ("council, fast", player(Council, medley, TEMPERS[:2], 0.9)),
    ("ladder", player(Ladder, lambda rng: Finder(rng, "both", 10))),
    ("ladder of tables", player(Ladder, lambda rng: Table(rng, 1, 1, 0.95), 6, 0.9)),
    ("ladder, drawn", player(Ladder, lambda rng: Finder(rng, "both", 15), 2, draw=True)),
    ("ladder of counts", player(Ladder, lambda rng: Often(rng, 0.9), 6, 0.97)),
    (
        "arms",
        player(
            Arms,
            [guesser(Finder, "both", 10), guesser(Table, 1, 1), guesser(Often, 0.9), guesser(Echo)],
        ),
    ),
    (
        "arms, turned",
        player(
            Arms,
            [
                *(guesser(Finder, "both", 12, turn=turn) for turn in range(3)),
                *(guesser(Table, 2, 1, 0.9, turn=turn) for turn in range(3)),
                *(guesser(Often, 0.9, turn=turn, target="mine") for turn in range(3)),
            ],
        ),
    ),
    (
        "arms, greedy",
        player(
            Arms,
            [guesser(Turns, "theirs"), guesser(Turns, "mine"), guesser(Results, 2), guesser(Tree)],
            0.9,
            True,
        ),
    ),
    (
        "arms of scorers",
        player(
            Arms,
            [player(Scorer, medley, 0.9), player(Scorer, finders((6,)), 0.98), guesser(Echo)],
            0.97,
        ),
    ),
    ("guarded finder", player(Guarded, guesser(Finder, "both", 15))),
    ("guarded scorer", player(Guarded, player(Scorer, medley, 0.95), None, 8, 40, 30)),
    ("guarded, two minds", player(Guarded, guesser(Table, 1, 1), guesser(Finder, "mine", 6), 3)),
    ("guarded council", player(Guarded, player(Council, small_medley, TEMPERS), None, 6)),
    ("second guess, finder", player(SecondGuess, guesser(Finder, "both", 12))),
    ("second guess, counts", player(SecondGuess, guesser(Often, 0.95))),
    ("second guess, scorer", player(SecondGuess, player(Scorer, small_medley, 0.9))),
    ("second guess, table", player(SecondGuess, guesser(Table, 1, 1, 0.98))),
]
"""(name, maker)."""
DEVELOPMENT = PROGRAMS[::2]
HELD_OUT = PROGRAMS[1::2]
