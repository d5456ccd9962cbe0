"""How often 95 % intervals of u hold the truth, where hidden opponents have a part in it.

Returns are drawn from normal distributions with known means: nothing is played.  The scores' errors
and intervals are the real ones (`population.evaluator`, `population.u_intervals`).

    python benchmarks/u_coverage.py
    python benchmarks/u_coverage.py --draws 10000

Prints two tables.  In the first all of 22 hidden opponents are met, one of whom brings nearly all
of the error: the coverage of the rule of now, and of one mean over all matches, as before.  In the
second n of N are met, which stand for all: the coverage, and the error that is told over the one
that there is.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from arena.games import game
from arena.games.protocol import Game
from oracle.values import Against, Score
from population.evaluator import Evaluator
from population.u_intervals import of_score

SHARE = 0.9
"""Of hidden opponents in u."""
SHOWN = 8
"""Matches with the only opponent that is shown."""


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=2_000, help="of each row (default 2,000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("one volatile opponent of 22 hidden ones, all of them met")
    for name, matches, volatile in _CASES:
        told = [_volatile(rng, game(name), matches, volatile) for _ in range(options.draws)]
        now, before = (statistics.fmean(held) for held in zip(*told, strict=True))
        print(f"  {name:5}  {matches} matches each, spread {volatile:3.0f}", end="")
        print(f"   now {now:.1%}, before {before:.1%}")
    print("n of N hidden opponents stand for all")
    for (of, met), spread, noise, shown in _SAMPLES:
        found = [_sample(rng, of, met, spread, noise, shown) for _ in range(options.draws)]
        held, errors, off = zip(*found, strict=True)
        ratio = math.sqrt(statistics.fmean(e * e for e in errors)) / statistics.pstdev(off)
        print(f"  {met:2} of {of}, spread {spread}, noise {noise}, shown {shown}", end="")
        print(f"   {statistics.fmean(held):.1%}, told / true error {ratio:.2f}")


_CASES = tuple(
    (name, matches, volatile)
    for name, matches in (("rrps", 2), ("rrps", 4), ("leduc", 4))
    for volatile in (60.0, 150.0, 300.0)
)
_SAMPLES = (
    ((8, 2), 40, 10, 20),
    ((22, 6), 60, 30, 30),
    ((22, 6), 40, 30, 400),
    ((22, 11), 60, 30, 30),
    ((22, 21), 40, 10, 20),
    ((60, 6), 40, 10, 20),
)


def _volatile(
    rng: np.random.Generator, played: Game, matches: int, volatile: float
) -> tuple[bool, bool]:
    """Whether the interval of now, and that of before, holds a u of 0."""
    each = 2 if played.has_deals else 1
    spreads = [5.0 if played.name == "rrps" else 1.0] * 22 + [volatile]
    weights = [1.0 - SHARE] + [SHARE / 22.0] * 22
    numbers = [SHOWN] + [matches] * 22
    against = tuple(
        _met(str(at), rng.normal(0.0, spread, number // each), each, weight)
        for at, (spread, number, weight) in enumerate(zip(spreads, numbers, weights, strict=True))
    )
    now = _score(against)
    before = replace(now, against=tuple(replace(one, weight=None) for one in against))
    return _holds(now, played, 0.0), _holds(before, played, 0.0)


def _sample(
    rng: np.random.Generator, of: int, met: int, spread: float, noise: float, shown: float
) -> tuple[bool, float, float]:
    """Whether the interval holds u; the error that is told, and how far off it is."""
    means = rng.normal(0.0, spread, of)
    truth = SHARE * float(means.mean())
    first = _met("shown", rng.normal(0.0, shown, 6), 1, 1.0 - SHARE)
    drawn = (
        _met(str(at), rng.normal(means[at], noise, 2), 1, SHARE / met)
        for at in rng.choice(of, met, replace=False)
    )
    hidden: Any = SimpleNamespace(_least=dict.fromkeys(map(str, range(of)), 2))
    alone = _score((first, *drawn))
    error = math.hypot(alone.stderr, Evaluator._of_sample(hidden, alone.against))
    score = replace(alone, stderr=error)
    return _holds(score, game("rrps"), truth), error, score.u - truth


def _met(name: str, deals: np.ndarray, each: int, weight: float) -> Against:
    error = float(deals.std(ddof=1)) / math.sqrt(len(deals))
    return Against(name, float(deals.mean()), error, each * len(deals), weight=weight)


def _score(against: Sequence[Against]) -> Score:
    weights = [one.weight or 0.0 for one in against]
    u = math.fsum(w * one.mean for w, one in zip(weights, against, strict=True))
    error = math.hypot(*(w * one.stderr for w, one in zip(weights, against, strict=True)))
    return Score(u, error, tuple(against))


def _holds(score: Score, played: Game, truth: float) -> bool:
    found = of_score(score, played)
    return found.low <= truth <= found.high


if __name__ == "__main__":
    main()
