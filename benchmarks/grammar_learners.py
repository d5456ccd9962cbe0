"""Opponents that combine predictors, learn or switch, for rock-paper-scissors.

Written from general knowledge of how people and programs play, to develop the grammar against.
A player is made with a random.Random and asked with `move(me, op)`: its own and its opponent's
past moves, as lists of 0, 1, 2, where (m + 1) % 3 beats m.
"""

import math

from grammar_players import Biased, Freq, Lag, Markov, Match, argmax


class Vote:
    """Several n-gram orders vote."""

    def __init__(self, rng, orders=(1, 2, 3), decay=1.0, noise=0.0):
        self.rng = rng
        self.ms = [Markov(rng, n, n, decay=decay) for n in orders] + [
            Markov(rng, 0, n, decay=decay) for n in orders
        ]
        self.noise = noise

    def move(self, me, op):
        v = [0, 0, 0]
        for i, m in enumerate(self.ms):
            p = m.predict(me, op)
            if p is not None:
                v[p] += 1 + i % 3 * 0.3
        if max(v) == 0 or self.rng.random() < self.noise:
            return self.rng.randrange(3)
        return (argmax(v) + 1) % 3


class Meta:
    """Predictors, mirrored, with rotations; decayed score; best plays; safety."""

    def __init__(
        self, rng, make, decay=0.95, rots=(0, 1, 2), mirror=True, margin=0.0, net=None, soft=None
    ):
        self.rng = rng
        self.preds = make(rng)
        self.mir = make(rng) if mirror else []
        self.d = decay
        self.rots = rots
        self.margin = margin
        self.net = net
        self.tot = 0
        self.soft = soft
        n = (len(self.preds) + len(self.mir)) * len(rots)
        self.sc = [0.0] * n
        self.cand = [None] * n

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        y = op[-1]
        self.tot += (me[-1] - y + 1) % 3 - 1
        for i, c in enumerate(self.cand):
            self.sc[i] *= self.d
            if c is not None:
                self.sc[i] += (c - y + 1) % 3 - 1
        g = [p.predict(me, op) for p in self.preds]
        for p in self.mir:
            q = p.predict(op, me)
            g.append(None if q is None else (q + 1) % 3)
        self.cand = [None if p is None else (p + 1 + r) % 3 for p in g for r in self.rots]
        if self.net is not None and self.tot < -self.net:
            return self.rng.randrange(3)
        if self.soft:
            w = [
                2.718 ** (x * self.soft) if c is not None else 0
                for x, c in zip(self.sc, self.cand, strict=True)
            ]
            if sum(w) <= 0:
                return self.rng.randrange(3)
            c = self.rng.choices(self.cand, w)[0]
            return c
        b = argmax(self.sc)
        if self.sc[b] <= self.margin or self.cand[b] is None:
            return self.rng.randrange(3)
        return self.cand[b]


class FreqP(Freq):
    """A frequency count that can be asked for its guess."""

    def predict(self, me, op):
        h = op if self.src == "op" else me
        if not h:
            return None
        self.c = [x * self.d for x in self.c]
        self.c[h[-1]] += 1
        return argmax(self.c)


class Regret:
    """Contextual regret matching."""

    def __init__(self, rng, k, decay=1.0, who="both"):
        self.rng = rng
        self.k = k
        self.d = decay
        self.tab = {}
        self.key = None
        self.who = who

    def move(self, me, op):
        if self.key is not None:
            r = self.tab.setdefault(self.key, [0.0] * 3)
            y = op[-1]
            u = (me[-1] - y + 1) % 3 - 1
            for a in range(3):
                r[a] = r[a] * self.d + ((a - y + 1) % 3 - 1) - u
        if len(me) < self.k:
            return self.rng.randrange(3)
        self.key = (
            tuple(me[-self.k :]) if self.k and self.who != "op" else 0,
            tuple(op[-self.k :]) if self.k else 0,
        )
        r = [max(0, x) for x in self.tab.get(self.key, (0, 0, 0))]
        return self.rng.choices((0, 1, 2), r)[0] if sum(r) > 0 else self.rng.randrange(3)


class Late:
    """Plays one way for n throws, then another way (having watched)."""

    def __init__(self, rng, a, b, n):
        self.a = a(rng)
        self.b = b(rng)
        self.n = n

    def move(self, me, op):
        x = self.a.move(me, op)
        y = self.b.move(me, op)
        return x if len(me) < self.n else y


class GiveUp:
    """Plays bot; random once behind by n."""

    def __init__(self, rng, a, n):
        self.rng = rng
        self.a = a(rng)
        self.n = n
        self.tot = 0

    def move(self, me, op):
        if me:
            self.tot += (me[-1] - op[-1] + 1) % 3 - 1
        m = self.a.move(me, op)
        return self.rng.randrange(3) if self.tot < -self.n else m


class Rotator:
    """Plays bot; every loss streak of n rotates its output (and keeps that)."""

    def __init__(self, rng, a, n, thr):
        self.rng = rng
        self.a = a(rng)
        self.n = n
        self.thr = thr
        self.rot = 0
        self.w = []

    def move(self, me, op):
        if me:
            self.w.append((me[-1] - op[-1] + 1) % 3 - 1)
            if len(self.w) >= self.n and sum(self.w[-self.n :]) <= -self.thr:
                self.rot = (self.rot + self.rng.choice((1, 2))) % 3
                self.w = []
        return (self.a.move(me, op) + self.rot) % 3


class Linear:
    """Online softmax regression on the last k joint moves."""

    def __init__(self, rng, k=4, lr=0.1):
        self.rng = rng
        self.k = k
        self.lr = lr
        self.w = {}
        self.x = None

    def move(self, me, op):

        if self.x is not None:
            for a in range(3):
                g = self.lr * ((op[-1] == a) - self.p[a])
                for f in self.x:
                    self.w[f, a] = self.w.get((f, a), 0.0) + g
        if len(me) < self.k:
            return self.rng.randrange(3)
        self.x = (
            [(i, 0, me[-i]) for i in range(1, self.k + 1)]
            + [(i, 1, op[-i]) for i in range(1, self.k + 1)]
            + [(i, 2, me[-i] * 3 + op[-i]) for i in range(1, self.k + 1)]
        )
        z = [math.exp(sum(self.w.get((f, a), 0.0) for f in self.x)) for a in range(3)]
        t = sum(z)
        self.p = [v / t for v in z]
        return (argmax(self.p) + 1) % 3


class Hedge:
    """Bandit over a set of bots, exponential weights on what each would have won."""

    def __init__(self, rng, make, eta=0.1, decay=0.97):
        self.rng = rng
        self.bots = make(rng)
        self.eta = eta
        self.d = decay
        self.sc = [0.0] * len(self.bots)
        self.c = None

    def move(self, me, op):
        if self.c:
            y = op[-1]
            for i, c in enumerate(self.c):
                self.sc[i] = self.sc[i] * self.d + ((c - y + 1) % 3 - 1)
        self.c = [b.move(me, op) for b in self.bots]

        return self.rng.choices(self.c, [math.exp(self.eta * x * 3) for x in self.sc])[0]


class NoRepeat:
    """Seldom repeats its last move."""

    def __init__(self, rng):
        self.rng = rng

    def move(self, me, op):
        return (
            self.rng.randrange(3)
            if not me
            else (me[-1] + self.rng.choices((0, 1, 2), (0.05, 0.55, 0.4))[0]) % 3
        )


class Noise:
    """Another player, with random moves mixed in."""

    def __init__(self, rng, a, p):
        self.rng = rng
        self.a = a(rng)
        self.p = p

    def move(self, me, op):
        m = self.a.move(me, op)
        return self.rng.randrange(3) if self.rng.random() < self.p else m


class Escape:
    """Switches among simple bots whenever it is losing over a window."""

    def __init__(self, rng):
        self.rng = rng
        self.bots = [
            Freq(rng, decay=0.95),
            Markov(rng, 0, 1),
            Match(rng),
            Lag(rng, 1, 0, 1, 1),
            Biased(rng, [1, 1, 1]),
        ]
        self.i = 0
        self.w = []

    def move(self, me, op):
        ms = [b.move(me, op) for b in self.bots]
        if me:
            self.w.append((me[-1] - op[-1] + 1) % 3 - 1)
            if len(self.w) >= 20 and sum(self.w[-20:]) < 0:
                self.i = (self.i + 1) % len(self.bots)
                self.w = []
        return ms[self.i]
