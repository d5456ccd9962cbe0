"""The text that rendered Leduc policies are put together from.

A hand can end in 49 ways.  How likely each style is to make its moves on the way to every one of
them is kept in arrays, so a whole hand is thought through once, before the first move.
"""

from __future__ import annotations

HEADER = """import functools
import random

import numpy as np

RANKS = {"J": 0, "Q": 1, "K": 2}
J, Q, K = CARDS = (0, 1, 2)
"""

TREE = '''
# A line is the betting so far: letters F, C, R, then "/" for the public card, then letters.
ROUND = {"": "CR", "C": "CR", "R": "FCR", "CR": "FCR", "RR": "FC", "CRR": "FC"}  # -> legal letters
FOLDED = ("RF", "CRF", "RRF", "CRRF")  # how a round ends
CALLED = ("CC", "RC", "CRC", "RRC", "CRRC")
LINES = [*ROUND, *(f"{first}/{then}" for first in CALLED for then in ROUND)]
ENDINGS = [*FOLDED, *(f"{first}/{last}" for first in CALLED for last in (*FOLDED, *CALLED))]
ROW = {line: number for number, line in enumerate((*ENDINGS, *LINES))}


def steps(line):
    """The moves of a line: (line before it, letter, seat)."""
    found, before, turn = [], "", 0
    for letter in line:
        if letter == "/":
            turn = 0
        else:
            found.append((before, letter, turn % 2))
            turn += 1
        before += letter
    return found


def over_cards(value):
    """Values at (my rank, their rank, public card)."""
    return np.array([[[value(a, b, c) for c in CARDS] for b in CARDS] for a in CARDS])


def better(mine, theirs, public):
    """1 where my hand wins, -1 where theirs does: a pair, else the higher card."""
    hand, other = (3 if rank == public else rank for rank in (mine, theirs))
    return (hand > other) - (hand < other)


SHOWDOWN = over_cards(better)
# Chance, times 20, that they hold one card and another one is or will be public, given mine.
DEAL = over_cards(lambda a, b, c: (2 - (a == b)) * (2 - (a == c) - (b == c)))


def chips_won(ending, me):
    """What a hand that ends like this brings me, at (my rank, their rank, public card)."""
    paid = [1, 1]
    for before, letter, seat in steps(ending):
        if letter != "F":
            paid[seat] = max(paid) + (letter == "R") * (4 if "/" in before else 2)
    if letter != "F":
        return paid[me] * SHOWDOWN
    return np.full((3, 3, 3), -paid[me] if seat == me else paid[1 - me])


class Seat:
    """What can be known before a hand: how it may go, and what that is worth.

    Rows are all endings of a hand and then all lines.  `worth[mine]` is (row, their rank, public
    card): the chance of the cards, for an ending times the chips that it brings.
    """

    def __init__(self, me):
        number = {line: 3 * place for place, line in enumerate(LINES)}
        ways = [
            [number[before] + "FCR".index(move) for before, move, who in steps(row) if who != me]
            for row in ROW
        ]
        longest, nothing = max(map(len, ways)), 3 * len(LINES)
        self.ways = np.array([way + [nothing] * (longest - len(way)) for way in ways])
        chips = [chips_won(ending, me) for ending in ENDINGS]
        lines = np.ones((len(LINES), 3, 3, 3))
        self.worth = np.moveaxis(np.concatenate((chips, lines)) * DEAL, 1, 0)

    def reach(self, table):
        """Chance that a style makes all its moves on the way: (row, their rank, public card)."""
        moves = np.moveaxis(table, 3, 1).reshape(-1, 3, 3)
        moves = np.concatenate((moves, np.ones((1, 3, 3))))
        return moves.take(self.ways, axis=0).prod(axis=1)


SEATS = (Seat(0), Seat(1))
'''

STYLES = '''
def everywhere(value):
    """Values at (line, rank, public card); before the card is dealt, it is given as None."""
    found = [
        [value(line, rank, public if "/" in line else None) for rank in CARDS for public in CARDS]
        for line in LINES
    ]
    return np.array(found).reshape(len(LINES), 3, 3, -1)


def strength(line, rank, public):
    """How good a hand feels to a player who only looks at the cards, 0 to 1."""
    if public is None:
        return (0.15, 0.5, 0.85)[rank]
    return 1.0 if rank == public else (0.1, 0.35, 0.6)[rank]


def balanced(line, rank, public):
    """Fold, call and raise chances of balanced play."""
    call, bet = BALANCED[line, rank][public or 0]
    return (1000 - call - bet) / 1000, call / 1000, bet / 1000


STRENGTH, EVEN = everywhere(strength), everywhere(balanced)
LEGAL = np.array([[x in ROUND[line.rpartition("/")[2]] for x in "FCR"] for line in LINES])
LEGAL = LEGAL[:, None, None]


def slope(x):
    """0 well below 0, 1 well above it."""
    return 1.0 / (1.0 + np.exp(-x / 0.07))


def style_table(kind, fold, bet):
    """Fold, call and raise chances of a style of play: (line, rank, public card, move)."""
    if kind == "balanced":
        return EVEN / EVEN.sum(axis=3, keepdims=True)
    chances = EVEN
    if kind == "blind":  # the same with any cards
        chances = np.ones_like(EVEN) * (fold, max(0.0, 1.0 - fold - bet), bet)
    elif kind == "honest":  # bets strong hands and gives up weak ones
        bets = slope(STRENGTH - bet)
        folds = slope(fold - STRENGTH) * (1.0 - bets)
        chances = np.concatenate((folds, 1.0 - bets - folds, bets), axis=3)
    elif kind == "tilted":  # balanced play with too much or too little of something
        chances = EVEN * (fold, 1.0, bet)
    chances = 0.97 * chances + 0.01  # a little room for mistakes
    calls = (chances * ~LEGAL).sum(axis=3)  # what is not allowed becomes a call
    chances = chances * LEGAL
    chances[..., 1] += calls
    return chances / chances.sum(axis=3, keepdims=True)


TABLES = [style_table(kind, fold, bet) for kind, fold, bet, _ in STYLES]


def hand_class(rank, public):
    """Hands that are taken as alike: J, Q, K; with a public card J, Q, K unpaired, or a pair."""
    return rank if public is None else 6 if rank == public else 3 + rank


def spot(line):
    """Lines that are taken as alike: the same betting in the same round."""
    return list(ROUND).index(line.rpartition("/")[2]) + (6 if "/" in line else 0)


SPOTS = np.array([spot(line) for line in LINES])
CLASSES = everywhere(lambda line, rank, public: hand_class(rank, public)).reshape(-1, 9, 1)


def learned_table(worth, seen):
    """Like `style_table`, from balanced play (worth some moves) and from what was seen."""
    start = worth * (0.97 * EVEN + 0.01) * (EVEN > 0.0)
    rows = seen.take(SPOTS, axis=0)  # (line, class of hand, move)
    own = np.take_along_axis(rows, CLASSES, axis=1).reshape(EVEN.shape)
    noted = POOL * rows.sum(axis=1)[:, None, None] + (1.0 - POOL) * own
    chances = start + noted * LEGAL
    return chances / chances.sum(axis=3, keepdims=True)
'''

BOT_BODY = '''
    def __init__(self):
        self.me = 0
        priors = np.array([prior for *_, prior in STYLES])
        self.priors = self.chances = priors / priors.sum()  # of each style; the latter learns
        self.seen = np.zeros((12, 7, 3))  # spot, class of hand: how often folded, called, raised
        self.reach = [np.array([seat.reach(table) for table in TABLES]) for seat in SEATS]
        self.forget_plan()

    def forget_plan(self):
        """Lets the learned styles, and what to do, follow what was seen since last time."""
        self.plan, self.learned = None, set()

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        view = obs["player_view"]
        self.me, mine = view["player_id"], RANKS[view["hand"]]
        line, public = self.read(obs)
        worth = self.options(line, public, mine)
        moves = {letter: name for name in view["legal_actions"] for letter in name[0]}
        even = dict(zip("FCR", balanced(line, mine, public)))
        best = max(moves, key=worth.__getitem__)
        if worth[best] - sum(even[letter] * worth[letter] for letter in moves) > CAUTION:
            return moves[best]
        return random.choices(list(moves.values()), [even[letter] + 1e-9 for letter in moves])[0]

    def receive_outcome(self, obs):
        """Weighs the styles by how well they explain the hand, and notes what was done."""
        mine, (line, public) = RANKS[obs["player_view"]["hand"]], self.read(obs)
        theirs = [step for step in steps(line) if step[2] != self.me]
        if not theirs:
            return
        cards = np.array([2.0 - (rank == mine) - (rank == public) for rank in CARDS])
        for hand in (obs["game_result"] or {}).get("showdown_hands") or ():
            if hand["player_id"] != self.me:
                cards[[rank for rank in CARDS if rank != RANKS[hand["hand"]]]] = 0.0
        reach = self.reach_of_styles()[:, ROW[line], :, public or 0]
        suspects = self.chances[:, None] * cards * reach  # (style, rank of their card)
        fits = suspects.sum(axis=1) + 1e-12
        self.chances = (1.0 - CHANGE) * fits / fits.sum() + CHANGE * self.priors
        ranks = suspects.sum(axis=0) / (suspects.sum() or 1.0)  # nobody may play like this
        for before, letter, _ in theirs:
            on_table = public if "/" in before else None
            for rank in CARDS:
                place = spot(before), hand_class(rank, on_table), "FCR".index(letter)
                self.seen[place] += ranks[rank]
        self.forget_plan()

    def read(self, obs):
        """The line so far, and the public card."""
        history, card = obs["action_history"], obs["public_state"]["public_card"]
        line, then = (
            "".join(event["action"][0] for event in history[stage])
            for stage in ("PREFLOP", "POSTFLOP")
        )
        return (line, None) if card is None else (f"{line}/{then}", RANKS[card])

    def reach_of_styles(self):
        """Chance that each style makes its moves on the way to each row, if I sit where I sit."""
        if self.me not in self.learned:
            self.learned.add(self.me)
            for number, (kind, worth, _, _) in enumerate(STYLES):
                if kind == "learned":
                    table = learned_table(worth, self.seen)
                    self.reach[self.me][number] = SEATS[self.me].reach(table)
        return self.reach[self.me]

    # ----- expected chips, if the styles are weighted right and I play on as well as I can -----

    def options(self, line, public, mine):
        """Chips that each legal letter is worth."""
        if self.plan is None:
            self.plan = self.think(mine)
        first, then, total = self.plan
        if public is None:
            weight = total[ROW[line]].sum() or 1.0  # 0 where nobody would play like this
            return {letter: float(value) / weight for letter, value in first[line].items()}
        start, _, letters = line.partition("/")
        place, weight = (CALLED.index(start), public), total[ROW[line], public] or 1.0
        return {letter: float(value[place]) / weight for letter, value in then[letters].items()}

    def think(self, mine):
        """Values of both rounds of this hand, and the chance to be at each row with each card."""
        expected = np.tensordot(self.chances, self.reach_of_styles(), axes=1)
        total = (expected * SEATS[self.me].worth[mine]).sum(axis=1)  # (row, public card)
        places = len(FOLDED) + len(CALLED)
        later = total[len(FOLDED) : len(ENDINGS)].reshape(len(CALLED), places, 3)
        ends = {letters: later[:, place] for place, letters in enumerate((*FOLDED, *CALLED))}
        then, start = self.play_on(ends)  # all first rounds and all public cards at once
        ends = {letters: total[ROW[letters]].sum() for letters in FOLDED}
        ends |= dict(zip(CALLED, start.sum(axis=1)))
        first, _ = self.play_on(ends)
        return first, then, total

    def play_on(self, ends):
        """What each letter of a round is worth, {letters: {letter: value}}, and the whole round."""
        worth, value = {}, dict(ends)
        for letters in reversed(ROUND):  # longer lines first
            worth[letters] = {letter: value[letters + letter] for letter in ROUND[letters]}
            join = np.maximum if len(letters) % 2 == self.me else np.add
            value[letters] = functools.reduce(join, worth[letters].values())
        return worth, value[""]
'''
