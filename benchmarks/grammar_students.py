"""More opponents that learn, for rock-paper-scissors: kinds written after the first design.

Written from general knowledge of how people and programs play, to develop the grammar against.
A player is made with a random.Random and asked with `move(me, op)`: its own and its opponent's
past moves, as lists of 0, 1, 2, where (m + 1) % 3 beats m.
"""

import math

from grammar_players import Markov, argmax


class QLearn:
    """Q-learning over the last pair of moves."""

    def __init__(self, rng, eps=0.1, a=0.2):
        self.rng = rng
        self.q = {}
        self.e = eps
        self.a = a
        self.k = None

    def move(self, me, op):
        if self.k is not None:
            r = (me[-1] - op[-1] + 1) % 3 - 1
            row = self.q[self.k]
            row[me[-1]] += self.a * (r - row[me[-1]])
        self.k = (me[-1], op[-1]) if me else None
        row = self.q.setdefault(self.k, [0.0] * 3)
        return self.rng.randrange(3) if self.rng.random() < self.e else argmax(row)


class Streak:
    """Learns by outcome of the last throw and length of the streak."""

    def __init__(self, rng, rot=1):
        self.rng = rng
        self.t = {}
        self.k = None
        self.n = 0
        self.o = 0
        self.rot = rot

    def move(self, me, op):
        if not me:
            return self.rng.randrange(3)
        if self.k is not None:
            self.t.setdefault(self.k, [0] * 3)[(op[-1] - self.lo) % 3] += 1
        o = (me[-1] - op[-1]) % 3
        self.n = self.n + 1 if o == self.o else 1
        self.o = o
        self.lo = op[-1]
        self.k = (o, min(self.n, 3))
        row = self.t.get(self.k)
        return self.rng.randrange(3) if row is None else (op[-1] + argmax(row) + self.rot) % 3


class Sig:
    """Random until a Markov row is clear, then beats it."""

    def __init__(self, rng, a, b, share=0.6, n=4):
        self.m = Markov(rng, a, b)
        self.rng = rng
        self.s = share
        self.n = n

    def move(self, me, op):
        self.m.predict(me, op)
        row = self.m.tab.get(self.m.key) if self.m.key is not None else None
        if row is None or sum(row) < self.n or max(row) < self.s * sum(row):
            return self.rng.randrange(3)
        return (argmax(row) + 1) % 3


class Majority:
    """Beats the majority of the last n moves."""

    def __init__(self, rng, n, rot=1):
        self.n = n
        self.rot = rot
        self.rng = rng

    def move(self, me, op):
        if not op:
            return self.rng.randrange(3)
        w = op[-self.n :]
        return (max((0, 1, 2), key=w.count) + self.rot) % 3


class Bayes:
    """Naive Bayes over the last moves of both sides."""

    def __init__(self, rng, k=4, target="op", rot=1, decay=1.0):
        self.rng = rng
        self.k = k
        self.c = {}
        self.f = None
        self.t = target
        self.rot = rot
        self.d = decay

    def move(self, me, op):
        h = op if self.t == "op" else me
        if self.f:
            for f in self.f:
                row = self.c.setdefault(f, [1.0] * 3)
                row[h[-1]] += 1
        if len(me) < self.k:
            return self.rng.randrange(3)
        self.f = [(i, 0, me[-i]) for i in range(1, self.k + 1)] + [
            (i, 1, op[-i]) for i in range(1, self.k + 1)
        ]
        z = [0.0] * 3
        for f in self.f:
            row = self.c.get(f, (1, 1, 1))
            t = sum(row)
            for a in range(3):
                z[a] += math.log(row[a] / t)
        return (argmax(z) + self.rot) % 3


class Backoff:
    """The longest Markov context that was seen often enough."""

    def __init__(self, rng, top=5, who="both", minc=2, rot=1, noise=0.0, decay=1.0):
        self.ms = [
            Markov(rng, k if who != "op" else 0, k if who != "me" else 0, decay=decay)
            for k in range(top, -1, -1)
        ]
        self.rng = rng
        self.c = minc
        self.rot = rot
        self.n = noise

    def move(self, me, op):
        out = None
        for m in self.ms:
            p = m.predict(me, op)
            if out is None and p is not None and max(m.tab[m.key]) >= self.c:
                out = p
        if out is None or self.rng.random() < self.n:
            return self.rng.randrange(3)
        return (out + self.rot) % 3


class Reverse:
    """Plays the last n moves of the opponent backwards."""

    def __init__(self, rng, n, rot):
        self.n = n
        self.rot = rot
        self.q = []
        self.rng = rng

    def move(self, me, op):
        if not self.q:
            self.q = [(x + self.rot) % 3 for x in op[-self.n :]] or [self.rng.randrange(3)]
        return self.q.pop()


class RandLag:
    """Answers a random one of the last four moves."""

    def __init__(self, rng, rot):
        self.rng = rng
        self.rot = rot

    def move(self, me, op):
        k = self.rng.randint(1, 4)
        return self.rng.randrange(3) if len(op) < k else (op[-k] + self.rot) % 3


class Lru:
    """Answers the move that one side has not made for longest."""

    def __init__(self, rng, src, rot):
        self.src = src
        self.rot = rot
        self.rng = rng

    def move(self, me, op):
        h = op if self.src == "op" else me
        o = [0, 1, 2]
        last = dict.fromkeys(o, -1)
        for i, m in enumerate(h[-40:]):
            last[m] = i
        return (min(o, key=last.get) + self.rot) % 3


class Total:
    """Plays the running total of all moves."""

    def __init__(self, rng):
        self.t = 0

    def move(self, me, op):
        if op:
            self.t += 2 * op[-1] + me[-1]
        return self.t % 3


class Persist:
    """Changes only after n losses."""

    def __init__(self, rng, n):
        self.rng = rng
        self.n = n
        self.l = 0
        self.m = rng.randrange(3)

    def move(self, me, op):
        if me and (op[-1] - me[-1]) % 3 == 1:
            self.l += 1
            if self.l >= self.n:
                self.l = 0
                self.m = (op[-1] + 1) % 3
        return self.m


class Soft:
    """Draws replies by how well they would have paid."""

    def __init__(self, rng, eta, decay=1.0):
        self.rng = rng
        self.e = eta
        self.d = decay
        self.c = [0.0] * 3

    def move(self, me, op):
        if op:
            self.c = [x * self.d for x in self.c]
            self.c[op[-1]] += 1
        t = sum(self.c) or 1
        z = [math.exp(self.e * (self.c[(a - 1) % 3] - self.c[(a + 1) % 3]) / t) for a in range(3)]
        return self.rng.choices((0, 1, 2), z)[0]


class Ucb:
    """Chooses among players by upper confidence bounds."""

    def __init__(self, rng, make, win=20):
        self.rng = rng
        self.b = make(rng)
        self.n = [0] * len(self.b)
        self.v = [0.0] * len(self.b)
        self.i = 0
        self.t = 0
        self.w = win

    def move(self, me, op):
        ms = [b.move(me, op) for b in self.b]
        if me:
            self.v[self.i] += (me[-1] - op[-1] + 1) % 3 - 1
            self.n[self.i] += 1
            self.t += 1
            if self.t % self.w == 0:
                self.i = max(
                    range(len(self.b)),
                    key=lambda j: (
                        9
                        if not self.n[j]
                        else self.v[j] / self.n[j] + math.sqrt(2 * math.log(self.t) / self.n[j])
                    ),
                )
        return ms[self.i]


class Flip:
    """Rotates another player whenever it loses over a window."""

    def __init__(self, rng, a, n=10):
        self.a = a(rng)
        self.w = []
        self.rot = 0
        self.n = n

    def move(self, me, op):
        if me:
            self.w.append((me[-1] - op[-1] + 1) % 3 - 1)
            if len(self.w) >= self.n and sum(self.w[-self.n :]) < 0:
                self.rot = (self.rot + 1) % 3
                self.w = []
        return (self.a.move(me, op) + self.rot) % 3
