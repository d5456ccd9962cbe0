"""Opponents of fixed habits for rock-paper-scissors.

Written from general knowledge of how people and programs play, to develop the grammar against.
A player is made with a random.Random and asked with `move(me, op)`: its own and its opponent's
past moves, as lists of 0, 1, 2, where (m + 1) % 3 beats m.
"""


def argmax(values):
    return values.index(max(values))


class Fixed:
    """Repeats a fixed word."""

    def __init__(self, rng, word):
        self.word = word
        self.t = -1

    def move(self, me, op):
        self.t += 1
        return self.word[self.t % len(self.word)]


def debruijn(n, k=3):
    a = [0] * k * n
    seq = []

    def db(t, p):
        if t > n:
            if n % p == 0:
                seq.extend(a[1 : p + 1])
        else:
            a[t] = a[t - p]
            db(t + 1, p)
            for j in range(a[t - p] + 1, k):
                a[t] = j
                db(t + 1, t)

    db(1, 1)
    return seq


class Word(Fixed):
    """Repeats a random word of n moves."""

    def __init__(self, rng, n):
        super().__init__(rng, [rng.randrange(3) for _ in range(n)])


class Biased:
    """Draws every move from fixed chances."""

    def __init__(self, rng, p):
        self.rng, self.p = rng, p

    def move(self, me, op):
        return self.rng.choices((0, 1, 2), self.p)[0]


class Drift:
    """Draws from chances that wander."""

    def __init__(self, rng, step):
        self.rng, self.step = rng, step
        self.p = [1.0, 1.0, 1.0]

    def move(self, me, op):
        i = self.rng.randrange(3)
        self.p[i] = min(6, max(0.05, self.p[i] * (self.rng.uniform(1 - self.step, 1 + self.step))))
        return self.rng.choices((0, 1, 2), self.p)[0]


class Regimes:
    """Becomes somebody else every now and then."""

    def __init__(self, rng, length, kind):
        self.rng, self.len, self.kind = rng, length, kind
        self.left = 0

    def move(self, me, op):
        if self.left <= 0:
            self.left = self.rng.randint(self.len // 2, self.len * 3 // 2)
            self.bot = self.kind(self.rng)
        self.left -= 1
        return self.bot.move(me, op)


class Memory:
    """Random table of the last k joint moves; noise; conc=None deterministic else Dirichlet."""

    def __init__(self, rng, k, noise=0.0, who="both", conc=None):
        self.rng, self.k, self.noise, self.who, self.conc = rng, k, noise, who, conc
        self.tab = {}

    def move(self, me, op):
        if len(me) < self.k or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        key = (
            tuple(me[-self.k :]) if self.who != "op" else 0,
            tuple(op[-self.k :]) if self.who != "me" else 0,
        )
        if key not in self.tab:
            self.tab[key] = (
                self.rng.randrange(3)
                if self.conc is None
                else [self.rng.gammavariate(self.conc, 1) + 1e-9 for _ in range(3)]
            )
        v = self.tab[key]
        return v if self.conc is None else self.rng.choices((0, 1, 2), v)[0]


class Lag:
    """rot + a*own[-k] + b*opp[-k], optionally changes rot when losing."""

    def __init__(self, rng, k, a, b, rot, noise=0.0, shift=False):
        self.rng = rng
        self.k = k
        self.a = a
        self.b = b
        self.rot = rot
        self.noise = noise
        self.shift = shift
        self.bad = 0

    def move(self, me, op):
        if len(me) < self.k or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        if self.shift and (op[-1] - me[-1]) % 3 == 1:
            self.bad += 1
            if self.bad % 3 == 0:
                self.rot = (self.rot + 1) % 3
        return (self.rot + self.a * me[-self.k] + self.b * op[-self.k]) % 3


class Wsls:
    """Stays when it wins, shifts when it loses or ties."""

    def __init__(self, rng, lose, tie, noise=0.0):
        self.rng = rng
        self.l = lose
        self.t = tie
        self.noise = noise

    def move(self, me, op):
        if not me or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        d = (me[-1] - op[-1]) % 3
        return me[-1] if d == 1 else (me[-1] + (self.t if d == 0 else self.l)) % 3


class Freq:
    """beats (rot=1) most/least frequent of op or own with decay/window, noise."""

    def __init__(
        self, rng, src="op", rot=1, decay=1.0, least=False, noise=0.0, sample=False, ties=False
    ):
        self.rng = rng
        self.ties = ties
        self.src = src
        self.rot = rot
        self.d = decay
        self.least = least
        self.noise = noise
        self.c = [0.0, 0.0, 0.0]
        self.sample = sample

    def move(self, me, op):
        h = op if self.src == "op" else me
        if h:
            self.c = [x * self.d for x in self.c]
            self.c[h[-1]] += 1
        if not h or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        if self.sample:
            return (self.rng.choices((0, 1, 2), self.c)[0] + self.rot) % 3
        m = min(self.c) if self.least else max(self.c)
        best = [i for i in range(3) if self.c[i] == m]
        return ((self.rng.choice(best) if self.ties else best[0]) + self.rot) % 3


class Markov:
    """Follows a Markov model of one side, by so many moves of each."""

    def __init__(
        self, rng, me_n, op_n, rot=1, decay=1.0, noise=0.0, sample=False, target="op", ties=False
    ):
        self.rng = rng
        self.ties = ties
        self.a = me_n
        self.b = op_n
        self.rot = rot
        self.d = decay
        self.noise = noise
        self.sample = sample
        self.tab = {}
        self.key = None
        self.target = target

    def predict(self, me, op):
        h = op if self.target == "op" else me
        if self.key is not None:
            row = self.tab.setdefault(self.key, [0.0, 0.0, 0.0])
            row[:] = [x * self.d for x in row]
            row[h[-1]] += 1
        if len(me) < max(self.a, self.b):
            return None
        self.key = (tuple(me[-self.a :]) if self.a else 0, tuple(op[-self.b :]) if self.b else 0)
        row = self.tab.get(self.key)
        if row is None:
            return None
        if self.sample:
            return self.rng.choices((0, 1, 2), row)[0]
        m = max(row)
        best = [i for i in range(3) if row[i] == m]
        return self.rng.choice(best) if self.ties else best[0]

    def move(self, me, op):
        p = self.predict(me, op)
        if p is None or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        return (p + self.rot) % 3


class Match:
    """Follows the longest earlier copy of the recent past."""

    def __init__(self, rng, src="both", top=20, rot=1, noise=0.0, target="op"):
        self.rng = rng
        self.src = src
        self.top = top
        self.rot = rot
        self.noise = noise
        self.seen = {}
        self.keys = []
        self.target = target

    def predict(self, me, op):
        h = op if self.target == "op" else me
        w = len(me) - 1
        for k in self.keys:
            self.seen[k] = w
        self.keys = []
        for n in range(1, min(self.top, len(me)) + 1):
            self.keys.append(
                (
                    n,
                    tuple(me[-n:]) if self.src != "op" else 0,
                    tuple(op[-n:]) if self.src != "me" else 0,
                )
            )
        for k in reversed(self.keys):
            if k in self.seen:
                return h[self.seen[k]]
        return None

    def move(self, me, op):
        p = self.predict(me, op)
        if p is None or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        return (p + self.rot) % 3
