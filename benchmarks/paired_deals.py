"""What candidates gain by meeting opponents on the same cards: `benchmarks/paired_deals.py`.

Programs are compared by differences of their returns.  On common cards a difference loses what the
cards gave to both.  A duplicate (a deal played from both seats) has taken part of that away before;
what is left is measured here against hand-written Leduc players, for the grammar's full sentence
beside its children and grandchildren by mutation, and beside a program that has nothing in common
with it.  Cards are all that is common: every player draws numbers of its own.

"saves" is how many times the matches that is worth: the variance of a difference with cards of
one's own over that with common ones, summed over the opponents, as against a mixture of equal
weights.

Then the rule that stops programs is tried where nothing is to be found: the same returns, moved so
that both programs have the same mean against everybody, drawn again and again.  Each direction
should be "surely" worse in no more than the nominal share.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence
from typing import Any

import grammar_leduc
import honest_leduc
import numpy as np
from grammar_leduc_field import DEVELOPMENT

from oracle.early_stop import difference
from oracle.grammar import leduc
from oracle.grammar.genome import write_source
from oracle.values import Against, Score

RATE = 0.025
LOOKS = (2, 3, 6, 12)


def match(agent: Any, maker: Any, seed: int, salt: str) -> float:
    """Return of a match whose cards follow from the seed, and its players' draws from the salt too.

    Seeds 2n and 2n + 1 are a duplicate.
    """
    deals, rng = random.Random(f"cards {seed // 2}"), random.Random(f"moves {salt} {seed}")
    random.setstate(random.Random(f"bot {salt} {seed}").getstate())
    bot, player, total = agent(), maker(rng), 0
    for number in range(grammar_leduc.HANDS):
        cards = deals.sample(grammar_leduc.DECK, 3)
        if seed % 2:
            cards = [cards[1], cards[0], cards[2]]
        total += grammar_leduc.hand(bot, player, (number + seed) % 2, cards, rng, number, total)
    return float(total)


def returns(source: str, field: Sequence[Any], deals: int, salt: str) -> np.ndarray:
    """(opponents, deals) mean returns of duplicates."""
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    agent = namespace["RepeatedLeducPokerBot"]
    halves = [[match(agent, maker, seed, salt) for seed in range(2 * deals)] for _, maker in field]
    return np.reshape(halves, (len(field), deals, 2)).mean(axis=2)


def saves(one: np.ndarray, other: np.ndarray) -> float:
    """How many times the matches common cards are worth for one difference."""
    apart = one.var(axis=1, ddof=1) + other.var(axis=1, ddof=1)
    return float(apart.sum() / (one - other).var(axis=1, ddof=1).sum())


def score(rows: np.ndarray, paired: bool) -> Score:
    """A score from (opponents, deals) returns."""
    deals = rows.shape[1]
    errors = rows.std(axis=1, ddof=1) / math.sqrt(deals)
    against = tuple(
        Against(
            str(place),
            float(row.mean()),
            float(error),
            2 * deals,
            {(1, number): float(one) for number, one in enumerate(row)} if paired else {},
        )
        for place, (row, error) in enumerate(zip(rows, errors, strict=True))
    )
    return Score(float(rows.mean()), 0.0, against)


def false_stops(
    one: np.ndarray, other: np.ndarray, deals: int, draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Shares of draws in which equal programs are told apart: on common cards, and without."""
    even = [rows - rows.mean(axis=1, keepdims=True) for rows in (one, other)]
    weights = {str(place): 1.0 / len(one) for place in range(len(one))}
    found = [0, 0]
    for _ in range(draws):
        picks = [rng.integers(one.shape[1], size=(len(one), deals)) for _ in even]
        for way, chosen in enumerate(([picks[0]] * 2, picks)):
            drawn = [np.take_along_axis(r, p, axis=1) for r, p in zip(even, chosen, strict=True)]
            mine, theirs = (score(rows, paired=way == 0) for rows in drawn)
            found[way] += difference(mine, theirs, weights).surely_negative(RATE)
    return found[0] / draws, found[1] / draws


def main() -> None:
    """Plays, and prints the factors and the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=40, help="against each opponent")
    parser.add_argument("--opponents", type=int, default=8)
    parser.add_argument("--draws", type=int, default=400)
    asked = parser.parse_args()
    field = DEVELOPMENT[:: max(1, len(DEVELOPMENT) // asked.opponents)][: asked.opponents]
    rng, parent = random.Random("children"), leduc.full_genome()
    children = [leduc.mutate(parent, rng) for _ in range(4)]
    grandchildren = [leduc.mutate(child, rng) for child in children]
    kinds = {
        "the first sentence": [write_source(parent)],
        "its children": [write_source(one) for one in children],
        "its grandchildren": [write_source(one) for one in grandchildren],
        "nothing in common": [honest_leduc.PROGRAMS[name] for name in ("strength", "numpy")],
    }
    found = {
        kind: [returns(text, field, asked.deals, f"{kind} {n}") for n, text in enumerate(texts)]
        for kind, texts in kinds.items()
    }
    (first,) = found.pop("the first sentence")
    print(f"{len(field)} opponents, {asked.deals} duplicates with each")
    for kind, programs in found.items():
        told = ", ".join(f"{saves(one, first):.1f}" for one in programs)
        print(f"{kind:20} saves {told}")
    draw = np.random.default_rng(1)
    everybody = [one for programs in found.values() for one in programs]
    for deals in LOOKS:
        shares = np.array(
            [false_stops(one, first, deals, asked.draws, draw) for one in everybody]
        ).mean(axis=0)
        print(
            f"{deals:2} deals with each: equal programs told apart in {shares[0]:.1%} on common "
            f"cards, {shares[1]:.1%} on their own (nominal {RATE:.1%})"
        )


if __name__ == "__main__":
    main()
