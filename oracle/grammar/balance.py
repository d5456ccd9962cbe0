"""Balanced (near equilibrium) play of one hand of Leduc, solved from the rules alone.

`python -m oracle.grammar.balance` solves the game with CFR+ (Tammelin, "Solving large imperfect
information games using CFR+", arXiv:1407.5042) and writes `data/leduc_balanced.json`, which the
grammar puts into its policies.  Both suits of a rank are the same card here, and a whole round of
cards is handled at once: every array below is indexed [my rank, public rank].
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Policy = Mapping[str, Array]
"""Line of betting -> chances (3 moves: fold, call, raise; 3 ranks; 3 public ranks)."""

PATH = Path(__file__).parent / "data" / "leduc_balanced.json"
LETTERS = "FCR"
ITERATIONS = 2500
PER_MILLE = 1000


class Spot(NamedTuple):
    """A line of betting at which somebody has to move.

    Attributes:
      mover: the seat.
      paid: chips that seats 0 and 1 have put in.
      legal: numbers of the legal moves (0 fold, 1 call, 2 raise).
    """

    mover: int
    paid: tuple[int, int]
    legal: tuple[int, ...]


def spot(line: str) -> Spot:
    """Reads a line such as "CR" or "RC/C" (letters, and "/" for the public card)."""
    before, _, after_card = line.partition("/")
    paid = [1, 1]
    for letters, size in ((before, 2), (after_card, 4)):
        for turn, letter in enumerate(letters):
            paid[turn % 2] = max(paid) + (size if letter == "R" else 0)
    letters = after_card if "/" in line else before
    fold = (0,) if letters.endswith("R") else ()
    bet = (2,) if letters.count("R") < 2 else ()
    return Spot(len(letters) % 2, (paid[0], paid[1]), (*fold, 1, *bet))


def follow(line: str, move: int) -> str:
    """The next line, or "fold" or "showdown"."""
    if move == 0:
        return "fold"
    letters = line.rpartition("/")[2]
    if move == 2 or not letters:
        return line + LETTERS[move]
    return "showdown" if "/" in line else line + "C/"


@functools.cache
def spots() -> Mapping[str, Spot]:
    """All 36 lines at which somebody has to move."""
    found: dict[str, Spot] = {}
    waiting = [""]
    while waiting:
        line = waiting.pop()
        found[line] = spot(line)
        next_lines = (follow(line, move) for move in found[line].legal)
        waiting += [to for to in next_lines if to not in {"fold", "showdown"}]
    return dict(sorted(found.items()))


@functools.cache
def _deals() -> tuple[Array, Array]:
    """Chance of (my rank, other rank, public rank), and the same times the showdown's sign."""
    chance = np.zeros((3, 3, 3))
    sign = np.zeros((3, 3, 3))
    for mine, other, public in np.ndindex(3, 3, 3):
        ways = 2 * (2 - (other == mine)) * (2 - (public == mine) - (public == other))
        chance[mine, other, public] = ways / 120
        hand, against = (3 if rank == public else rank for rank in (mine, other))
        sign[mine, other, public] = np.sign(hand - against)
    return chance, chance * sign


def _ending(line: str, move: int, seat: int, reach: Array) -> Array | None:
    """Value to a seat of a hand that ends with this move, None where it goes on."""
    chance, signed = _deals()
    mover, paid, _ = spots()[line]
    to = follow(line, move)
    if to == "fold":
        won = -paid[seat] if mover == seat else paid[1 - seat]
        return np.asarray(won * np.einsum("abp,bp->ap", chance, reach))
    if to == "showdown":
        return np.asarray(max(paid) * np.einsum("abp,bp->ap", signed, reach))
    return None


def _before_card(line: str, values: Array) -> Array:
    """Before the public card a choice cannot depend on it: sums that axis out where it must."""
    if "/" in line:
        return values
    return np.broadcast_to(values.sum(axis=-1, keepdims=True), values.shape)


class _Solver:
    """CFR+ with alternating updates and linear averaging."""

    def __init__(self) -> None:
        self.regrets = {line: np.zeros((3, 3, 3)) for line in spots()}
        self.sums = {line: np.zeros((3, 3, 3)) for line in spots()}

    def current(self, line: str) -> Array:
        return _normal(line, self.regrets[line])

    def walk(self, line: str, seat: int, own: Array, other: Array, weight: int) -> Array:
        """Updates one seat's regrets; returns its counterfactual values [rank, public]."""
        mover, _, legal = spots()[line]
        strategy = self.current(line)
        values = np.zeros((3, 3, 3))
        for move in legal:
            to_own = own * strategy[move] if mover == seat else own
            to_other = other if mover == seat else other * strategy[move]
            ending = _ending(line, move, seat, to_other)
            if ending is None:
                ending = self.walk(follow(line, move), seat, to_own, to_other, weight)
            values[move] = ending
        if mover != seat:
            return np.asarray(values.sum(axis=0))
        seen = _before_card(line, values)
        gains = seen - (strategy * seen).sum(axis=0)
        mask = np.zeros((3, 1, 1))
        mask[list(legal)] = 1.0
        self.regrets[line] = np.maximum(self.regrets[line] + gains * mask, 0.0)
        self.sums[line] += weight * own * strategy
        return np.asarray((strategy * values).sum(axis=0))


def _normal(line: str, weights: Array) -> Array:
    """Chances in proportion to weights, uniform over the legal moves where all are 0."""
    legal = spots()[line].legal
    uniform = np.zeros((3, 1, 1))
    uniform[list(legal)] = 1.0 / len(legal)
    total = weights.sum(axis=0)
    return np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), uniform)


def solve(iterations: int = ITERATIONS) -> Policy:
    """The averaged policy after some iterations of CFR+; about 5 ms each."""
    solver, all_cards = _Solver(), np.ones((3, 3))
    for iteration in range(1, iterations + 1):
        for seat in (0, 1):
            solver.walk("", seat, all_cards, all_cards, iteration)
    return {line: _normal(line, sums) for line, sums in solver.sums.items()}


def best_response_value(policy: Policy, seat: int) -> float:
    """Chips a hand that the best response in a seat wins against a policy."""
    return float(_reply_values(policy, "", seat, np.ones((3, 3))).sum())


def _reply_values(policy: Policy, line: str, seat: int, other: Array) -> Array:
    """The same from a line on, by [rank, public], times the chance that the other gets there."""
    mover, _, legal = spots()[line]
    values = []
    for move in legal:
        reach = other if mover == seat else other * policy[line][move]
        ending = _ending(line, move, seat, reach)
        if ending is None:
            ending = _reply_values(policy, follow(line, move), seat, reach)
        values.append(ending)
    stacked = np.stack(values)
    if mover != seat:
        return np.asarray(stacked.sum(axis=0))
    choice = _before_card(line, stacked).argmax(axis=0)[None]
    return np.asarray(np.take_along_axis(stacked, choice, axis=0)[0])


def move_values(
    policy: Policy, line: str, seat: int, rank: int, public: int | None
) -> dict[str, float]:
    """Chips that each legal move is worth to a seat that replies best from then on.

    Args:
      policy: of the other seat.
      line: the betting so far; the seat moves next.
      seat: who asks.
      rank: its card.
      public: the public card, None before it is dealt.
    """
    reach = np.ones((3, 3))
    for end in range(len(line)):
        if line[end] != "/" and spots()[line[:end]].mover != seat:
            reach = reach * policy[line[:end]][LETTERS.index(line[end])]
    chance = (_deals()[0] * reach).sum(axis=1)[rank]  # of each public card, and of getting here
    weight = chance.sum() if public is None else chance[public]
    found = {}
    for move in spots()[line].legal:
        values = _ending(line, move, seat, reach)
        if values is None:
            values = _reply_values(policy, follow(line, move), seat, reach)
        own = values[rank].sum() if public is None else values[rank, public]
        found[LETTERS[move]] = float(own / weight) if weight else 0.0
    return found


def nash_conv(policy: Policy) -> float:
    """What both best responses win together, in chips a hand; 0 at an equilibrium."""
    return best_response_value(policy, 0) + best_response_value(policy, 1)


Rows = Mapping[str, tuple[tuple[tuple[int, int], ...], ...]]
"""Line -> my rank -> public rank (one entry before it is dealt) -> (call, raise) per mille."""


def rounded(policy: Policy) -> Rows:
    """Per mille, as the policies carry it."""
    rows = {}
    for line, chances in policy.items():
        publics = range(3) if "/" in line else range(1)
        rows[line] = tuple(tuple(_pair(chances[:, a, p]) for p in publics) for a in range(3))
    return rows


def _pair(chances: Array) -> tuple[int, int]:
    bet = round(PER_MILLE * float(chances[2]))
    fold = round(PER_MILLE * float(chances[0]))
    return PER_MILLE - bet - fold, bet


def from_rows(rows: Rows) -> Policy:
    """The policy that a rounded table stands for."""
    policy = {}
    for line, by_rank in rows.items():
        chances = np.zeros((3, 3, 3))
        for rank, public in np.ndindex(3, 3):
            call, bet = by_rank[rank][public if "/" in line else 0]
            chances[:, rank, public] = (PER_MILLE - call - bet, call, bet)
        policy[line] = chances / PER_MILLE
    return policy


@functools.cache
def stored_rows() -> Rows:
    """The shipped table."""
    document = json.loads(PATH.read_text())
    return {
        line: tuple(tuple((call, bet) for call, bet in row) for row in by_rank)
        for line, by_rank in document["rows"].items()
    }


def main() -> None:
    """Solves the game and writes the table."""
    rows = rounded(solve())
    document = {
        "solver": "CFR+, linear averaging, oracle/grammar/balance.py",
        "iterations": ITERATIONS,
        "nash_conv": nash_conv(from_rows(rows)),
        "rows": rows,
    }
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
