"""The opponents that the rock-paper-scissors grammar was developed against: (name, maker)."""

from grammar_learners import (
    Escape,
    FreqP,
    GiveUp,
    Hedge,
    Late,
    Linear,
    Meta,
    Noise,
    NoRepeat,
    Regret,
    Rotator,
    Vote,
)
from grammar_players import (
    Biased,
    Drift,
    Fixed,
    Freq,
    Lag,
    Markov,
    Match,
    Memory,
    Regimes,
    Word,
    Wsls,
    debruijn,
)
from grammar_students import (
    Backoff,
    Bayes,
    Flip,
    Lru,
    Majority,
    Persist,
    QLearn,
    RandLag,
    Reverse,
    Sig,
    Soft,
    Streak,
    Total,
    Ucb,
)


def basic(r):
    return [
        FreqP(r),
        FreqP(r, decay=0.9),
        Markov(r, 0, 1),
        Markov(r, 1, 1),
        Match(r, "both"),
        Match(r, "op"),
    ]


def basic2(r):
    return [
        FreqP(r, decay=0.95),
        FreqP(r, decay=0.8),
        Markov(r, 0, 2, decay=0.9),
        Markov(r, 1, 2, decay=0.95),
        Markov(r, 2, 0),
        Match(r, "both", 30),
        Match(r, "op", 30),
        Match(r, "me", 30),
    ]


def basic3(r):
    return [
        FreqP(r),
        Markov(r, 1, 1, decay=0.98),
        Markov(r, 2, 2, decay=0.98),
        Markov(r, 0, 3),
    ]


def const(r):
    return Fixed(r, [r.randrange(3)])


def regime_any(r):
    return r.choice(
        [
            lambda: const(r),
            lambda: Word(r, 3),
            lambda: Biased(r, [r.random() ** 2 + 0.02 for _ in range(3)]),
            lambda: Lag(r, 1, r.randrange(2), 1, r.randrange(3)),
            lambda: Markov(r, 0, 1),
            lambda: Freq(r),
        ]
    )()


ZOO = [
    ("const", const),
    ("cycle3", lambda r: Fixed(r, [0, 1, 2] if r.random() < 0.5 else [2, 1, 0])),
    ("word5", lambda r: Word(r, 5)),
    ("word17", lambda r: Word(r, 17)),
    ("word60", lambda r: Word(r, 60)),
    ("word150", lambda r: Word(r, 150)),
    ("debruijn4", lambda r: Fixed(r, debruijn(4))),
    ("debruijn3", lambda r: Fixed(r, debruijn(3))),
    ("bias60", lambda r: Biased(r, r.sample([0.6, 0.2, 0.2], 3))),
    ("bias45", lambda r: Biased(r, r.sample([0.45, 0.35, 0.2], 3))),
    ("bias80", lambda r: Biased(r, r.sample([0.8, 0.1, 0.1], 3))),
    ("uniform", lambda r: Biased(r, [1, 1, 1])),
    ("drift.1", lambda r: Drift(r, 0.1)),
    ("drift.3", lambda r: Drift(r, 0.3)),
    ("regime const40", lambda r: Regimes(r, 40, const)),
    ("regime any60", lambda r: Regimes(r, 60, regime_any)),
    ("regime any150", lambda r: Regimes(r, 150, regime_any)),
    ("regime word6 100", lambda r: Regimes(r, 100, lambda q: Word(q, 6))),
    ("mem1", lambda r: Memory(r, 1)),
    ("mem1 n20", lambda r: Memory(r, 1, 0.2)),
    ("mem2", lambda r: Memory(r, 2)),
    ("mem2 n10", lambda r: Memory(r, 2, 0.1)),
    ("mem3op", lambda r: Memory(r, 3, who="op")),
    ("mem3me", lambda r: Memory(r, 3, who="me")),
    ("mem1 sto", lambda r: Memory(r, 1, conc=0.5)),
    ("mem1op sto", lambda r: Memory(r, 1, who="op", conc=0.7)),
    ("mem2 sto", lambda r: Memory(r, 2, conc=0.4)),
    ("copy", lambda r: Lag(r, 1, 0, 1, 0)),
    ("beatlast", lambda r: Lag(r, 1, 0, 1, 1)),
    ("lag2", lambda r: Lag(r, 2, 0, 1, r.randrange(3))),
    ("lag5 n10", lambda r: Lag(r, 5, 1, 1, 1, 0.1)),
    ("sum shift", lambda r: Lag(r, 1, 1, 1, 0, shift=True)),
    ("copy shift n30", lambda r: Lag(r, 1, 0, 1, 0, 0.3, True)),
    ("wsls", lambda r: Wsls(r, 1, 2)),
    ("wsls n30", lambda r: Wsls(r, 2, 1, 0.3)),
    ("norepeat", lambda r: NoRepeat(r)),
    ("freq", lambda r: Freq(r)),
    ("freq.9", lambda r: Freq(r, decay=0.9)),
    ("freq n30", lambda r: Freq(r, noise=0.3, decay=0.97)),
    ("freq sample", lambda r: Freq(r, sample=True)),
    ("freq l2", lambda r: Freq(r, src="me", rot=2)),
    ("flat", lambda r: Freq(r, src="me", rot=0, least=True)),
    ("flat n20", lambda r: Freq(r, src="me", rot=0, least=True, noise=0.2)),
    ("antiflat", lambda r: Freq(r, src="me", rot=0, decay=0.95, noise=0.3)),
    ("least op", lambda r: Freq(r, rot=1, least=True)),
    ("mk01", lambda r: Markov(r, 0, 1)),
    ("mk11", lambda r: Markov(r, 1, 1)),
    ("mk02.9", lambda r: Markov(r, 0, 2, decay=0.9)),
    ("mk22", lambda r: Markov(r, 2, 2)),
    ("mk11 sample", lambda r: Markov(r, 1, 1, sample=True)),
    ("mk01 n25", lambda r: Markov(r, 0, 1, noise=0.25)),
    ("mk11 l2", lambda r: Markov(r, 1, 1, rot=2, target="me")),
    ("match both", lambda r: Match(r, "both")),
    ("match op", lambda r: Match(r, "op")),
    ("match me l2", lambda r: Match(r, "both", rot=2, target="me")),
    ("match n20", lambda r: Match(r, "op", noise=0.2)),
    ("vote", lambda r: Vote(r)),
    ("vote.95", lambda r: Vote(r, (1, 2, 3, 4), 0.95)),
    ("linear", lambda r: Linear(r)),
    ("linear6", lambda r: Linear(r, 6, 0.03)),
    ("meta basic", lambda r: Meta(r, basic)),
    ("meta2 .9", lambda r: Meta(r, basic2, 0.9)),
    ("meta nomirror", lambda r: Meta(r, basic, mirror=False)),
    ("meta3 .98 net", lambda r: Meta(r, basic3, 0.98, net=30)),
    ("meta2 .99", lambda r: Meta(r, basic2, 0.99, margin=2)),
    ("meta soft", lambda r: Meta(r, basic2, 0.97, soft=0.3)),
    ("regret0", lambda r: Regret(r, 0)),
    ("regret1", lambda r: Regret(r, 1)),
    ("regret2", lambda r: Regret(r, 2, 0.99)),
    ("regret1op", lambda r: Regret(r, 1, who="op")),
    ("late mk", lambda r: Late(r, lambda q: Biased(q, [1, 1, 1]), lambda q: Markov(q, 1, 1), 200)),
    ("late meta", lambda r: Late(r, lambda q: Biased(q, [1, 1, 1]), lambda q: Meta(q, basic), 100)),
    ("giveup match", lambda r: GiveUp(r, lambda q: Match(q), 40)),
    ("giveup freq", lambda r: GiveUp(r, lambda q: Freq(q, decay=0.95), 80)),
    ("rot freq", lambda r: Rotator(r, lambda q: Freq(q, decay=0.9), 10, 4)),
    ("rot mk", lambda r: Rotator(r, lambda q: Markov(q, 0, 2), 12, 6)),
    (
        "hedge",
        lambda r: Hedge(
            r,
            lambda q: [
                Freq(q),
                Markov(q, 1, 1),
                Match(q),
                Freq(q, src="me", rot=2),
                Markov(q, 1, 1, rot=2, target="me"),
            ],
        ),
    ),
    ("perturb cycle n20", lambda r: Noise(r, lambda q: Fixed(q, [0, 1, 2]), 0.2)),
    ("word8 n15", lambda r: Noise(r, lambda q: Word(q, 8), 0.15)),
    ("escape mk", lambda r: Escape(r)),
    ("freq ties", lambda r: Freq(r, ties=True)),
    ("mk01 ties", lambda r: Markov(r, 0, 1, ties=True)),
    ("mk11 ties", lambda r: Markov(r, 1, 1, ties=True)),
    ("mk33", lambda r: Markov(r, 3, 3)),
    ("mk05", lambda r: Markov(r, 0, 5)),
    ("mk10 l0", lambda r: Markov(r, 1, 0, decay=0.8)),
    ("mk21 sample", lambda r: Markov(r, 2, 1, sample=True, decay=0.9)),
    ("freq win l2 n10", lambda r: Freq(r, src="me", rot=2, decay=0.85, noise=0.1)),
    ("flat ties", lambda r: Freq(r, src="me", rot=0, least=True, ties=True)),
    ("giveup vote", lambda r: GiveUp(r, lambda q: Vote(q), 60)),
    (
        "regime me/op",
        lambda r: Regimes(
            r,
            120,
            lambda q: q.choice(
                [lambda: Freq(q), lambda: Markov(q, 1, 1), lambda: Match(q), lambda: Wsls(q, 1, 1)]
            )(),
        ),
    ),
    (
        "twoface",
        lambda r: Late(r, lambda q: Lag(q, 1, 0, 1, 1), lambda q: Fixed(q, [0, 0, 1, 2, 1]), 500),
    ),
    (
        "rand then copy",
        lambda r: Late(r, lambda q: Biased(q, [1, 1, 1]), lambda q: Lag(q, 1, 0, 1, 2), 300),
    ),
    ("linear n10", lambda r: Noise(r, lambda q: Linear(q, 3, 0.2), 0.1)),
    (
        "vote op sampled",
        lambda r: Hedge(r, lambda q: [Markov(q, 0, 1), Markov(q, 0, 2), Markov(q, 0, 3)], eta=0.3),
    ),
    ("meta rot2 only", lambda r: Meta(r, basic2, 0.95, rots=(1,))),
    ("meta tiny", lambda r: Meta(r, lambda q: [FreqP(q, decay=0.9), Markov(q, 1, 1)], 0.9)),
]

# Written after the grammar's design was fixed, to see whether it generalises.
LATER = [
    ("qlearn", lambda r: QLearn(r)),
    ("streak", lambda r: Streak(r)),
    ("streak l2", lambda r: Streak(r, 2)),
    ("sig11", lambda r: Sig(r, 1, 1)),
    ("sig02", lambda r: Sig(r, 0, 2, 0.5, 6)),
    ("maj5", lambda r: Majority(r, 5)),
    ("maj11 r0", lambda r: Majority(r, 11, 0)),
    ("bayes4", lambda r: Bayes(r)),
    ("bayes6", lambda r: Bayes(r, 6)),
    ("bayes me", lambda r: Bayes(r, 3, "me", 2)),
    ("backoff5", lambda r: Backoff(r)),
    ("backoff op", lambda r: Backoff(r, 6, "op", 1, decay=0.95)),
    ("backoff n20", lambda r: Backoff(r, 3, "both", 2, noise=0.2)),
    ("reverse9", lambda r: Reverse(r, 9, 1)),
    ("randlag", lambda r: RandLag(r, 1)),
    ("lru me", lambda r: Lru(r, "me", 0)),
    ("lru op", lambda r: Lru(r, "op", 2)),
    ("total", lambda r: Total(r)),
    ("persist2", lambda r: Persist(r, 2)),
    ("persist4", lambda r: Persist(r, 4)),
    ("soft3", lambda r: Soft(r, 3)),
    ("soft8.9", lambda r: Soft(r, 8, 0.9)),
    ("ucb", lambda r: Ucb(r, lambda q: [Freq(q), Markov(q, 1, 1), Match(q), Lag(q, 1, 0, 1, 1)])),
    ("flip match", lambda r: Flip(r, lambda q: Match(q))),
    ("flip freq", lambda r: Flip(r, lambda q: Freq(q, decay=0.9), 6)),
    ("flip vote", lambda r: Flip(r, lambda q: Vote(q), 8)),
    ("cycle n50", lambda r: Noise(r, lambda q: Fixed(q, [0, 0, 1, 2, 2]), 0.5)),
    ("giveup meta", lambda r: GiveUp(r, lambda q: Meta(q, basic3), 20)),
    (
        "meta meta",
        lambda r: Hedge(
            r, lambda q: [Meta(q, basic), Meta(q, basic3, 0.9), Meta(q, basic2, 0.98)], 0.1
        ),
    ),
    (
        "late backoff",
        lambda r: Late(r, lambda q: Biased(q, [1, 1, 1]), lambda q: Backoff(q, 4, "op"), 50),
    ),
    (
        "regime hard",
        lambda r: Regimes(
            r,
            200,
            lambda q: q.choice(
                [lambda: Vote(q), lambda: Backoff(q), lambda: Bayes(q), lambda: Regret(q, 1)]
            )(),
        ),
    ),
    ("vote l2", lambda r: Flip(r, lambda q: Vote(q, (2, 3, 4)), 1000000)),
]
