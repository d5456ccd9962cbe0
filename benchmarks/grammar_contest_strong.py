"""Contest programs that blend probabilities, learn weights, or choose among choosers.

Written for this project; nothing was copied.  See `grammar_contest`.
"""

from __future__ import annotations

import math

import numpy as np
from grammar_contest_parts import Escapes, Finder, Often, Results, Table, Turns, argmax


def payoffs(chances):
    """What rock, paper and scissors are worth against a forecast."""
    rock, paper, scissors = chances
    return (scissors - paper, rock - scissors, paper - rock)


class Hedged:
    """Exponential weights over turned guesses; plays what their weighted forecast asks for."""

    def __init__(self, rng, make, rate=0.3, fade=0.95, temper=0.0, sides=("theirs", "mine")):
        self.rng, self.parts, self.rate, self.fade, self.temper = rng, make(rng), rate, fade, temper
        self.sides = sides
        self.scores = [0.0] * (3 * len(sides) * len(self.parts))
        self.guesses = [None] * len(self.scores)

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        for place, guess in enumerate(self.guesses):
            if guess is not None:
                self.scores[place] = self.fade * self.scores[place] + (2 if guess == op[-1] else -1)
        for part in self.parts:
            part.see(me[-1], op[-1])
        self.guesses = [
            None if (guess := part.guess(side)) is None else (guess + turn) % 3
            for part in self.parts
            for side in self.sides
            for turn in range(3)
        ]
        forecast = [1e-9] * 3
        top = max(self.scores)
        for guess, score in zip(self.guesses, self.scores, strict=True):
            if guess is not None:
                forecast[guess] += math.exp(self.rate * (score - top))
        total = sum(forecast)
        worth = payoffs([share / total for share in forecast])
        if self.temper:
            return self.rng.choices((0, 1, 2), [math.exp(x / self.temper) for x in worth])[0]
        return argmax(worth)


class Ages:
    """Keeps the results of every turned guess over several windows, and trusts the best window."""

    def __init__(self, rng, make, windows=(5, 20, 100, 1000)):
        self.rng, self.parts, self.windows = rng, make(rng), windows
        self.results, self.wanted = [], None
        self.form, self.said = [0.0] * len(windows), [None] * len(windows)

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        if self.wanted is not None:
            row = [0 if want is None else (want - op[-1] + 1) % 3 - 1 for want in self.wanted]
            last = self.results[-1] if self.results else [0] * len(row)
            self.results.append([a + b for a, b in zip(last, row, strict=True)])
            for place, said in enumerate(self.said):
                self.form[place] = 0.98 * self.form[place] + (said - op[-1] + 1) % 3 - 1
        for part in self.parts:
            part.see(me[-1], op[-1])
        self.wanted = [
            None if (guess := part.guess(side)) is None else (guess + turn) % 3
            for part in self.parts
            for side in ("theirs", "mine")
            for turn in range(3)
        ]
        self.said = [self.best(window) for window in self.windows]
        return self.said[argmax(self.form)]

    def best(self, window):
        able = [place for place, want in enumerate(self.wanted) if want is not None]
        if not self.results or not able:
            return self.rng.randrange(3)
        now = self.results[-1]
        then = self.results[-window - 1] if len(self.results) > window else [0] * len(now)
        return self.wanted[max(able, key=lambda place: now[place] - then[place])]


class Weighted:
    """Mixes Markov models of orders 0 to k by Bayes' rule, each with a small count to start."""

    def __init__(self, rng, order=4, side="both", start=0.5, fade=1.0, temper=0.0, turn=1):
        self.rng, self.order, self.side, self.start = rng, order, side, start
        self.fade, self.temper, self.turn = fade, temper, turn
        self.logs, self.counts, self.rows = [0.0] * (order + 1), {}, None

    def move(self, me, op):
        if self.rows is not None:
            for k, row in enumerate(self.rows):
                self.logs[k] = self.fade * self.logs[k] + math.log(row[op[-1]] / sum(row))
                row[op[-1]] += 1.0
        text = op if self.side == "theirs" else [3 * a + b for a, b in zip(me, op, strict=True)]
        self.rows = [
            self.counts.setdefault((k, tuple(text[len(text) - k :])), [self.start] * 3)
            for k in range(min(self.order, len(text)) + 1)
        ]
        top, forecast = max(self.logs), [0.0] * 3
        for log, row in zip(self.logs, self.rows, strict=False):
            for move in range(3):
                forecast[move] += math.exp(log - top) * row[move] / sum(row)
        total = sum(forecast)
        worth = payoffs([share / total for share in forecast])
        if self.temper:
            return self.rng.choices((0, 1, 2), [math.exp(x / self.temper) for x in worth])[0]
        return (argmax(worth) + self.turn - 1) % 3


class Network:
    """A small neural network on the last throws, one step of descent a throw."""

    def __init__(self, rng, hidden=16, past=5, rate=0.1, temper=0.0):
        self.rng, self.past, self.rate, self.temper = rng, past, rate, temper
        generator = np.random.default_rng(rng.randrange(2**32))
        self.first = generator.normal(0.0, 0.3, (hidden, 6 * past + 1))
        self.second = generator.normal(0.0, 0.3, (3, hidden))
        self.seen = None

    def move(self, me, op):
        if self.seen is not None:
            inputs, middle, chances = self.seen
            error = np.eye(3)[op[-1]] - chances
            back = (self.second.T @ error) * (1 - middle**2)
            self.second += self.rate * np.outer(error, middle)
            self.first += self.rate * np.outer(back, inputs)
        if len(me) < self.past:
            return self.rng.randrange(3)
        inputs = np.zeros(6 * self.past + 1)
        for place in range(self.past):
            inputs[6 * place + me[-1 - place]] = inputs[6 * place + 3 + op[-1 - place]] = 1.0
        inputs[-1] = 1.0
        middle = np.tanh(self.first @ inputs)
        chances = np.exp(self.second @ middle)
        chances /= chances.sum()
        self.seen = inputs, middle, chances
        worth = payoffs(chances.tolist())
        if self.temper:
            return self.rng.choices((0, 1, 2), [math.exp(x / self.temper) for x in worth])[0]
        return argmax(worth)


class Cautious:
    """Another player, but random with a chance that grows as its plan stops paying."""

    def __init__(self, rng, make, fade=0.95):
        self.rng, self.player, self.fade, self.form, self.said = rng, make(rng), fade, 0.0, None

    def move(self, me, op):
        if self.said is not None:
            self.form = self.fade * self.form + (self.said - op[-1] + 1) % 3 - 1
        self.said = self.player.move(me, op)
        trust = 1.0 / (1.0 + math.exp(-0.7 * self.form - 0.5))
        return self.said if self.rng.random() < trust else self.rng.randrange(3)


def wide(rng):
    return [
        Finder(rng, "both", 10),
        Finder(rng, "theirs", 10),
        Finder(rng, "mine", 10),
        Table(rng, 1, 1, 0.95),
        Table(rng, 0, 3, 0.98),
        Often(rng, 0.9),
        Turns(rng, "mine", 1, 0.9),
    ]


def narrow(rng):
    return [Finder(rng, "both", 6), Table(rng, 2, 2, 0.95), Often(rng, 1.0, 15), Results(rng, 2)]


def deep(rng):
    return [
        Finder(rng, "both", 30, 3),
        Finder(rng, "both", 4),
        Finder(rng, "mine", 20),
        Escapes(rng, 5),
        Escapes(rng, 7, "theirs"),
        Escapes(rng, 7, "mine"),
        Table(rng, 1, 0, 0.9),
    ]


def player(kind, *settings, **named):
    return lambda rng: kind(rng, *settings, **named)


STRONG = [
    ("hedged, wide", player(Hedged, wide)),
    ("hedged, narrow", player(Hedged, narrow, 0.2, 0.97)),
    ("hedged, deep", player(Hedged, deep, 0.5, 0.9)),
    ("hedged, softly", player(Hedged, wide, 0.3, 0.95, 0.2)),
    ("hedged, theirs", player(Hedged, deep, 0.2, 0.98, 0.0, ("theirs",))),
    ("hedged, mine", player(Hedged, wide, 0.4, 0.9, 0.0, ("mine",))),
    ("ages, wide", player(Ages, wide)),
    ("ages, narrow", player(Ages, narrow, (3, 10, 30))),
    ("ages, deep", player(Ages, deep, (10, 50, 250))),
    ("ages, long", player(Ages, wide, (40, 1000))),
    ("weighted orders", player(Weighted)),
    ("weighted, theirs", player(Weighted, 6, "theirs", 0.2, 0.98)),
    ("weighted, softly", player(Weighted, 3, "both", 0.5, 0.95, 0.15)),
    ("weighted, turned", player(Weighted, 3, "both", 0.3, 0.95, 0.0, 2)),
    ("network", player(Network)),
    ("network, soft", player(Network, 10, 3, 0.2, 0.2)),
    ("network, long", player(Network, 24, 8, 0.05)),
    ("network, quick", player(Network, 8, 2, 0.5)),
    ("cautious, wide", player(Cautious, player(Hedged, wide, 0.4, 0.92))),
    ("cautious ages", player(Cautious, player(Ages, deep))),
    ("cautious network", player(Cautious, player(Network, 12, 4, 0.15), 0.9)),
    ("cautious weights", player(Cautious, player(Weighted, 5, "both", 0.2, 0.99), 0.98)),
    ("narrow ages, softly", player(Hedged, narrow, 0.3, 0.9, 0.3)),
    ("cautious narrow", player(Cautious, player(Ages, narrow), 0.98)),
]
"""(name, maker)."""
