"""Opponents drawn at random from families, to develop the rock-paper-scissors grammar against.

Every family is a way to play with its settings left open; `drawn(number)` settles on a family
and on settings. So there are as many opponents as one wants: some to choose by and others, of the
same families, to check with. Written for this project; nothing was copied.

A player is made with a random.Random and asked with `move(me, op)`: its own and its opponent's
past moves, as lists of 0, 1, 2, where (m + 1) % 3 beats m.
"""

from __future__ import annotations

import math
import random

from grammar_contest_parts import Echo, Escapes, Finder, Often, Results, Table, Tree, Turns, argmax


class Nearest:
    """Guesses what followed the past throws whose surroundings look most like now."""

    def __init__(self, rng, depth=6, keep=5, fade=0.8):
        self.depth, self.keep = depth, keep
        self.worth = [fade**k for k in range(depth)]
        self.past = []

    def see(self, mine, theirs):
        self.past.append((mine, theirs))

    def guess(self, target):
        past, now = self.past, self.past[: -self.depth - 1 : -1]
        if len(now) < self.depth:
            return None
        found = []
        for place in range(max(self.depth, len(past) - 150), len(past)):
            likeness = 0.0
            for back in range(self.depth):
                one, other = past[place - 1 - back], now[back]
                likeness += self.worth[back] * ((one[0] == other[0]) + (one[1] == other[1]))
            found.append((likeness, place))
        votes = [0.0] * 3
        for likeness, place in sorted(found)[-self.keep :]:
            votes[past[place][target == "theirs"]] += likeness
        return argmax(votes)


class Weave:
    """Mixes contexts of all lengths by Bayes' rule, each a Dirichlet count (context weighting)."""

    def __init__(self, rng, depth=4, sides="both", prior=0.3, memory=0.97):
        self.depth, self.sides, self.prior, self.memory = depth, sides, prior, memory
        self.past, self.counts, self.logs = [], {}, [0.0] * (depth + 1)

    def keys(self):
        return [tuple(self.past[len(self.past) - n :]) for n in range(self.depth + 1)]

    def shares(self, target):
        rows = [self.counts.get((target, key), (0, 0, 0)) for key in self.keys()]
        return [[(c + self.prior) / (sum(row) + 3 * self.prior) for c in row] for row in rows]

    def see(self, mine, theirs):
        for n, row in enumerate(self.shares("theirs")):
            self.logs[n] = self.memory * self.logs[n] + math.log(row[theirs])
        for key in self.keys():
            for target, move in (("mine", mine), ("theirs", theirs)):
                self.counts.setdefault((target, key), [0, 0, 0])[move] += 1
        self.past.append({"both": (mine, theirs), "mine": mine, "theirs": theirs}[self.sides])

    def guess(self, target):
        top = max(self.logs)
        weights = [math.exp(x - top) for x in self.logs]
        rows = self.shares(target)
        return argmax([sum(w * r[m] for w, r in zip(weights, rows, strict=True)) for m in range(3)])


class Masks:
    """Looks at random subsets of the last moves; those that told most lately have more votes."""

    def __init__(self, rng, count=12, depth=5, size=3, memory=0.95):
        places = [(side, back) for side in range(2) for back in range(depth)]
        self.masks = [rng.sample(places, rng.randint(1, size)) for _ in range(count)]
        self.depth, self.memory = depth, memory
        self.past, self.counts = [], [{} for _ in self.masks]
        self.told = {target: [0.0] * count for target in ("mine", "theirs")}

    def rows(self, target):
        if len(self.past) < self.depth:
            return None
        return [
            table.setdefault((target, *(self.past[-1 - b][s] for s, b in mask)), [0, 0, 0])
            for mask, table in zip(self.masks, self.counts, strict=True)
        ]

    def see(self, mine, theirs):
        for target, move in (("mine", mine), ("theirs", theirs)):
            for place, row in enumerate(self.rows(target) or ()):
                right = row[move] == max(row) and sum(row) > 0
                self.told[target][place] = self.memory * self.told[target][place] + right
                row[move] += 1
        self.past.append((mine, theirs))

    def guess(self, target):
        rows = self.rows(target)
        if rows is None:
            return None
        votes = [0.0] * 3
        for told, row in zip(self.told[target], rows, strict=True):
            if sum(row):
                votes[argmax(row)] += told**2 + 0.01
        return argmax(votes)


def predictor(rng):
    """Draws a maker of predictors."""
    sides = rng.choice(("both", "mine", "theirs"))
    fading = rng.choice((1.0, 0.98, 0.95, 0.9, 0.8))
    kind, settings = rng.choice(
        (
            (Finder, (sides, rng.choice((3, 6, 12, 30)))),
            (Finder, (sides, rng.choice((3, 6, 12, 30)), 1, rng.random() < 0.3)),
            (Table, (rng.randrange(4), rng.randrange(4), fading)),
            (Table, (rng.randrange(3), rng.randrange(3), fading, rng.randrange(3))),
            (Turns, (rng.choice(("mine", "theirs")), rng.choice((1, 1, 2, 3)), fading)),
            (Often, (fading, 0 if fading < 1 else rng.choice((0, 7, 25)))),
            (Tree, (sides, rng.choice((0, 100)))),
            (Escapes, (rng.choice((3, 5, 8)), sides, rng.choice((1, 2)))),
            (Results, (rng.choice((1, 2, 3, 4)), fading)),
            (Echo, (rng.choice((6, 12)), rng.choice((0.8, 0.9, 0.97)))),
            (Nearest, (rng.choice((3, 6, 10)), rng.choice((1, 5)), rng.choice((0.7, 0.9)))),
            (Weave, (rng.choice((2, 4)), sides, 0.3, rng.choice((0.9, 0.98)))),
            (Masks, (rng.choice((5, 12)), rng.choice((3, 5)), rng.choice((2, 4)))),
        )
    )
    return lambda r: kind(r, *settings)


class Plans:
    """Guesses of both sides, turned; how plans are judged and picked is left open.

    A plan is judged by a score that fades, by a window, or by weights that are multiplied, and
    picked as the best, in proportion, or best but for a random throw at times.
    """

    def __init__(self, rng, makers, targets, turns, judge, pick, safe):
        self.rng, self.parts = rng, [make(rng) for make in makers]
        self.targets, self.turns, self.judge, self.pick, self.safe = (
            targets,
            turns,
            judge,
            pick,
            safe,
        )
        count = len(makers) * len(targets) * len(turns)
        self.scores, self.plans = [0.0] * count, [None] * count
        self.form, self.results = 0.0, []

    def learn(self, mine, theirs):
        how, setting = self.judge
        results = [0 if p is None else (p - theirs + 1) % 3 - 1 for p in self.plans]
        if how == "window":
            self.results.append(results)
            old = self.results[-setting - 1] if len(self.results) > setting else [0] * len(results)
            self.scores = [s + r - o for s, r, o in zip(self.scores, results, old, strict=True)]
        elif how == "reset":
            self.scores = [
                s + r if r >= 0 else s * setting for s, r in zip(self.scores, results, strict=True)
            ]
        else:
            self.scores = [s * setting + r for s, r in zip(self.scores, results, strict=True)]
        self.form = 0.95 * self.form + (mine - theirs + 1) % 3 - 1
        for part in self.parts:
            part.see(mine, theirs)
        self.plans = [
            None if guess is None else (guess + turn) % 3
            for part in self.parts
            for target in self.targets
            for guess in (part.guess(target),)
            for turn in self.turns
        ]

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        self.learn(me[-1], op[-1])
        able = [place for place, plan in enumerate(self.plans) if plan is not None]
        if not able or (self.safe and self.form < -self.safe):
            return self.rng.randrange(3)
        how, setting = self.pick
        if how == "soft":
            top = max(self.scores[place] for place in able)
            weights = [math.exp(setting * (self.scores[place] - top)) for place in able]
            return self.plans[self.rng.choices(able, weights)[0]]
        if how == "votes":
            votes = [0.0] * 3
            for place in able:
                votes[self.plans[place]] += math.exp(min(setting * self.scores[place], 50.0))
            return argmax(votes)
        if self.rng.random() < setting:
            return self.rng.randrange(3)
        return self.plans[max(able, key=self.scores.__getitem__)]


def plans(rng):
    """Draws players of one guess or of several."""
    count = rng.choice((1, 1, 2, 3, 5, 8))
    makers = [predictor(rng) for _ in range(count)]
    targets = rng.choice((("theirs",), ("mine",), ("theirs", "mine"), ("theirs", "mine")))
    turns = (0, 1, 2) if count > 1 or rng.random() < 0.3 else (rng.choice((1, 1, 2, 0)),)
    judge = rng.choice(
        (
            ("fade", rng.choice((0.8, 0.9, 0.95, 0.99, 1.0))),
            ("window", rng.choice((5, 15, 40))),
            ("reset", rng.choice((0.0, 0.5))),
        )
    )
    pick = rng.choice(
        (("best", 0.0), ("best", 0.1), ("soft", rng.choice((0.2, 0.6))), ("votes", 0.3))
    )
    safe = rng.choice((0, 0, 0, 3, 6))
    return lambda r: Plans(r, makers, targets, turns, judge, pick, safe)


class Person:
    """Stays, shifts up or shifts down by chances that depend on how the last throws ended."""

    def __init__(self, rng, chances, depth, drift):
        self.rng, self.depth, self.drift = rng, depth, drift
        self.chances = {key: list(row) for key, row in chances.items()}

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        ends = tuple((m - o) % 3 for m, o in zip(me[-self.depth :], op[-self.depth :], strict=True))
        row = self.chances[ends if len(ends) == self.depth else (0,) * self.depth]
        if self.drift:
            row[self.rng.randrange(3)] *= self.rng.uniform(1 - self.drift, 1 + self.drift)
        return (me[-1] + self.rng.choices((0, 1, 2), row)[0]) % 3


def person(rng):
    """Draws people with habits."""
    depth, sharp = rng.choice((1, 1, 2, 3)), rng.choice((0.2, 0.5, 1.0))
    keys = [()]
    for _ in range(depth):
        keys = [(*key, end) for key in keys for end in range(3)]
    chances = {key: [rng.gammavariate(sharp, 1) + 0.01 for _ in range(3)] for key in keys}
    drift = rng.choice((0.0, 0.0, 0.2))
    return lambda r: Person(r, chances, depth, drift)


class Automaton:
    """A machine of a few states; what is met, or how it ended, leads from one to the next."""

    def __init__(self, rng, moves, table, noise, by_result):
        self.rng, self.moves, self.table = rng, moves, table
        self.noise, self.by_result, self.state = noise, by_result, 0

    def move(self, me, op):
        if me:
            met = (me[-1] - op[-1]) % 3 if self.by_result else op[-1]
            self.state = self.table[self.state][met]
        if self.rng.random() < self.noise:
            return self.rng.randrange(3)
        return self.moves[self.state]


def automaton(rng):
    """Draws machines of 2 to 40 states."""
    size = rng.choice((2, 4, 8, 15, 40))
    moves = [rng.randrange(3) for _ in range(size)]
    table = [[rng.randrange(size) for _ in range(3)] for _ in range(size)]
    noise, by_result = rng.choice((0.0, 0.05, 0.2, 0.4)), rng.random() < 0.5
    return lambda r: Automaton(r, moves, table, noise, by_result)


class Sum:
    """Reckons its throw from a few earlier throws and the time, modulo 3."""

    def __init__(self, rng, terms, period, noise):
        self.rng, self.terms, self.period, self.noise = rng, terms, period, noise

    def move(self, me, op):
        reach = max((back for _, back, _ in self.terms), default=1)
        if len(me) < reach or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        total = sum(f * (me, op)[side][-back] for side, back, f in self.terms)
        return (total + len(me) // self.period) % 3


def reckoner(rng):
    """Draws sums of one to three terms."""
    terms = [
        (rng.randrange(2), rng.randint(1, 4), rng.choice((1, 2))) for _ in range(rng.randint(1, 3))
    ]
    period, noise = rng.choice((1, 5, 30, 2000, 2000)), rng.choice((0.0, 0.0, 0.1, 0.3))
    return lambda r: Sum(r, terms, period, noise)


class Restless:
    """Several players; goes to the next, or a random one, after a time, a loss or a bad spell."""

    def __init__(self, rng, makers, when, setting, at_random):
        self.rng, self.players = rng, [make(rng) for make in makers]
        self.when, self.setting, self.at_random = when, setting, at_random
        self.place, self.since, self.form = 0, 0, 0

    def due(self, result):
        if self.when == "time":
            return self.since >= self.setting
        if self.when == "chance":
            return self.rng.random() < 1.0 / self.setting
        return self.form <= -self.setting / 10

    def move(self, me, op):
        said = [player.move(me, op) for player in self.players]
        if me:
            result = (me[-1] - op[-1] + 1) % 3 - 1
            self.since, self.form = self.since + 1, 0.9 * self.form + result
            if self.due(result):
                step = self.rng.randint(1, len(said) - 1) if self.at_random else 1
                self.place = (self.place + step) % len(said)
                self.since, self.form = 0, 0.0
        return said[self.place]


def restless(rng):
    """Draws players who change."""
    makers = [simple(rng) for _ in range(rng.choice((2, 3, 5)))]
    when = rng.choice(("time", "chance", "form", "form"))
    setting, at_random = rng.choice((10, 25, 60, 200)), rng.random() < 0.5
    return lambda r: Restless(r, makers, when, setting, at_random)


class Torn:
    """Throws what one or another player would, by chance in each throw."""

    def __init__(self, rng, makers, weights):
        self.rng, self.players, self.weights = rng, [make(rng) for make in makers], weights

    def move(self, me, op):
        said = [player.move(me, op) for player in self.players]
        return self.rng.choices(said, self.weights)[0]


def torn(rng):
    """Draws mixtures of two or three players."""
    makers = [simple(rng) for _ in range(rng.choice((2, 3)))]
    weights = [rng.random() + 0.1 for _ in makers]
    return lambda r: Torn(r, makers, weights)


def simple(rng):
    """Draws players who are not made of players."""
    return rng.choice((plans, plans, person, automaton, reckoner))(rng)


def drawn(number):
    """Name and maker of an opponent; equal numbers give equal opponents."""
    rng = random.Random(977 * number + 5)
    family = rng.choice((plans, plans, plans, plans, person, automaton, reckoner, restless, torn))
    return f"{family.__name__} {number}", family(rng)


DRAWN = [drawn(number) for number in range(160)]
"""(name, maker); `benchmarks/grammar_rrps.py --field drawn` plays against them in two halves."""
