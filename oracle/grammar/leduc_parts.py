"""The text that rendered Leduc policies are put together from: the game, and styles of play.

A hand can end in 49 ways.  How likely each style is to make its moves on the way to every one of
them is kept in arrays, so a whole hand is thought through once, before the first move.
"""

from __future__ import annotations

HEADER = """[crowd]import copy
import functools
import operator
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
REACH = [np.array([seat.reach(table) for table in TABLES]) for seat in SEATS]
'''
