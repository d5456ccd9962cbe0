"""Short contest programs for rock-paper-scissors: rules of thumb, cycles, chance, human habits.

Written for this project; nothing was copied.  `SIMPLE` lists (name, maker); see `grammar_contest`.
"""

from __future__ import annotations


class Rule:
    """A rule on the last throws: `rule(rng, me, op)`; random at first and with some noise."""

    def __init__(self, rng, rule, noise=0.0, first=1):
        self.rng, self.rule, self.noise, self.first = rng, rule, noise, first

    def move(self, me, op):
        if len(me) < self.first or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        return self.rule(self.rng, me, op) % 3


def reply_to_last(rng, me, op):
    return op[-1] + 1


def under_last(rng, me, op):
    return op[-1] + 2


def what_beats_me(rng, me, op):
    return me[-1] + 2


def their_double(rng, me, op):
    """Expects a move thrown twice to come again."""
    return op[-1] + 1 if op[-1] == op[-2] else op[-1] + 2


def tree_by_hand(rng, me, op):
    """If it won, stays; if it lost, takes what would have won; after draws climbs."""
    result = (me[-1] - op[-1]) % 3
    if result == 1:
        return me[-1]
    return op[-1] + 1 if result == 2 else me[-1] + 1


def deep_tree(rng, me, op):
    """A few more questions: streaks first, then how the last two throws ended."""
    if op[-1] == op[-2] == op[-3]:
        return op[-1] + 1
    if me[-1] == me[-2]:
        return me[-1] + 2
    one, two = (me[-1] - op[-1]) % 3, (me[-2] - op[-2]) % 3
    if one == two == 2:
        return op[-2] + 1
    return op[-1] + one + two


def gambler(rng, me, op):
    """Thinks that what has not come for long is due."""
    last = op[-12:]
    return (
        min(
            range(3), key=lambda move: max((i for i, m in enumerate(last) if m == move), default=-1)
        )
        + 1
    )


def shy(rng, me, op):
    """A person: seldom the same move thrice, seldom back to what just lost."""
    if me[-1] == me[-2]:
        return me[-1] + rng.choice((1, 2))
    if (me[-1] - op[-1]) % 3 == 2:
        return me[-1] + rng.choice((1, 1, 2))
    return me[-1] + rng.choice((0, 0, 1, 2))


def proud(rng, me, op):
    """A person: repeats what won, mostly, and imitates who beat it."""
    result = (me[-1] - op[-1]) % 3
    if rng.random() < 0.25:
        return rng.randrange(3)
    return me[-1] if result == 1 else op[-1] if result == 2 else me[-1] + 2


def sums(rng, me, op):
    return sum(op[-3:]) + me[-1]


def old_news(rng, me, op):
    """Beats what was thrown ten throws ago."""
    return op[-10] + 1


def outcome_clock(rng, me, op):
    """Steps on by how many of the last five it won."""
    return me[-1] + sum((a - b) % 3 == 1 for a, b in zip(me[-5:], op[-5:], strict=True))


def mirror_late(rng, me, op):
    """Copies the opponent's move of three throws before."""
    return op[-3]


class Congruent:
    """A small linear generator, by its high digits."""

    def __init__(self, rng, modulus, factor, add):
        self.state, self.settings = rng.randrange(modulus), (modulus, factor, add)

    def move(self, me, op):
        modulus, factor, add = self.settings
        self.state = (self.state * factor + add) % modulus
        return self.state * 3 // modulus


class Digits:
    """The digits of the square root of a number, in base 3."""

    def __init__(self, rng, number):
        self.root = int((number << 6000) ** 0.5) if number < 1 else _root(number)
        self.place = 3

    def move(self, me, op):
        self.place += 1
        return self.root // 3 ** (1300 - self.place) % 3


def _root(number):
    """The integer part of sqrt(number) * 3^1300."""
    target = number * 9**1300
    low, high = 0, target
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle * middle <= target else (low, middle - 1)
    return low


class Phases:
    """Plays rules in turn; moves on after some throws, or when it has lost too much."""

    def __init__(self, rng, rules, length=60, loss=None):
        self.rng, self.rules, self.length, self.loss = rng, rules, length, loss
        self.now, self.age, self.form = 0, 0, 0

    def move(self, me, op):
        if me:
            self.age += 1
            self.form += (me[-1] - op[-1] + 1) % 3 - 1
        due = self.form <= -self.loss if self.loss else self.age >= self.length
        if due:
            self.now, self.age, self.form = (self.now + 1) % len(self.rules), 0, 0
        if len(me) < 10:
            return self.rng.randrange(3)
        return self.rules[self.now](self.rng, me, op) % 3


class Mood:
    """Favours a move for a while, then another."""

    def __init__(self, rng, share, mean):
        self.rng, self.share, self.mean, self.left, self.best = rng, share, mean, 0, 0

    def move(self, me, op):
        if self.left <= 0:
            self.left, self.best = self.rng.expovariate(1 / self.mean), self.rng.randrange(3)
        self.left -= 1
        return self.best if self.rng.random() < self.share else self.rng.randrange(3)


class Lead:
    """Plays a rule until it leads by enough, then only random moves."""

    def __init__(self, rng, rule, lead):
        self.rng, self.rule, self.lead, self.score = rng, rule, lead, 0

    def move(self, me, op):
        if me:
            self.score += (me[-1] - op[-1] + 1) % 3 - 1
        if len(me) < 3 or self.score >= self.lead:
            return self.rng.randrange(3)
        return self.rule(self.rng, me, op) % 3


def rule(function, noise=0.0, first=1):
    return lambda rng: Rule(rng, function, noise, first)


SIMPLE = [
    ("reply to last, noise", rule(reply_to_last, 0.3)),
    ("under last", rule(under_last)),
    ("what beats me", rule(what_beats_me, 0.1)),
    ("their double", rule(their_double, 0.0, 2)),
    ("tree by hand", rule(tree_by_hand)),
    ("tree by hand, noise", rule(tree_by_hand, 0.4)),
    ("deep tree", rule(deep_tree, 0.0, 3)),
    ("deep tree, noise", rule(deep_tree, 0.25, 3)),
    ("gambler", rule(gambler)),
    ("shy", rule(shy, 0.0, 2)),
    ("proud", rule(proud)),
    ("sums", rule(sums, 0.1, 3)),
    ("old news", rule(old_news, 0.0, 10)),
    ("outcome clock", rule(outcome_clock, 0.0, 5)),
    ("mirrors late", rule(mirror_late, 0.2, 3)),
    ("congruent 64", lambda rng: Congruent(rng, 64, 5, 3)),
    ("congruent 1009", lambda rng: Congruent(rng, 1009, 11, 7)),
    ("root of two", lambda rng: Digits(rng, 2)),
    ("phases", lambda rng: Phases(rng, (reply_to_last, tree_by_hand, what_beats_me))),
    ("phases by loss", lambda rng: Phases(rng, (under_last, deep_tree, proud, sums), loss=6)),
    ("mood", lambda rng: Mood(rng, 0.6, 30)),
    ("mood, long", lambda rng: Mood(rng, 0.4, 120)),
    ("leads, then random", lambda rng: Lead(rng, tree_by_hand, 10)),
    ("leads, shy", lambda rng: Lead(rng, shy, 30)),
]
