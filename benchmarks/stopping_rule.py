"""What the rule of `arena play --precision` does to means and intervals, in a simulation.

    python benchmarks/stopping_rule.py

Deals of six kinds with a known mean are drawn until the rule ends, 20,000 times for each kind and
each precision; the precision is chosen so that a pair needs about 4, 8, 12, 20, 40 or 80 deals.
Printed are, at the end: how often the 95 % interval holds that everybody reads; beside it, how
often it holds for as many deals as the rule took on average, fixed before (what peeking costs is
the difference); the bias of the mean as a share of the precision; and the deals that were played.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arena.analysis.estimates import Floats, around, freedom_of
from arena.analysis.stakes import Stakes
from arena.analysis.stopping import FIRST_LOOK, floored, looks

STAKES = Stakes(most=200.0, spread=20.0)
NEEDED = (4, 8, 12, 20, 40, 80)
MOST = 400
_CHUNK = 4_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of deals with mean 0: how they are drawn, and their standard deviation."""

    name: str
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    spread: float


def _two_valued(share: float) -> Kind:
    """Deals that are lost in that share, and won otherwise, or the other way round."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return 40.0 * ((rng.random(shape) < share) - share)

    return Kind(
        f"two values, the rarer in {share:.0%}", draw, 40.0 * float(np.sqrt(share * (1.0 - share)))
    )


KINDS = (
    Kind("normal", lambda rng, shape: 13.0 * rng.standard_normal(shape), 13.0),
    Kind(
        "hundred hands, skewed a little",
        lambda rng, shape: (rng.binomial(100, 0.1, shape) - 10.0) * 4.0,
        12.0,
    ),
    Kind(
        "heavy tails (Student, 3 degrees of freedom)",
        lambda rng, shape: 8.0 * rng.standard_t(3, shape),
        8.0 * float(np.sqrt(3.0)),
    ),
    _two_valued(0.5),
    _two_valued(0.1),
    Kind(
        "skewed (exponential)", lambda rng, shape: 13.0 * (rng.exponential(size=shape) - 1.0), 13.0
    ),
)


def _ended(deals: Floats, precision: float, first: int) -> Floats:
    """(3, rows) mean, floored standard error and number of deals where the rule ends each row."""
    sums, squares = np.cumsum(deals, axis=1), np.cumsum(deals**2, axis=1)
    found = np.full((3, len(deals)), np.nan)
    for n in looks(MOST, first):
        mean = sums[:, n - 1] / n
        spread = np.maximum(squares[:, n - 1] - n * mean**2, 0.0) / (n - 1)
        counts = np.full(len(deals), n)
        error = floored(np.sqrt(spread / n), counts, STAKES)
        ends = np.isnan(found[2]) & ((error <= precision) | (n == MOST))
        found[:, ends] = np.stack([mean, error, counts])[:, ends]
    return found


def _holds(mean: Floats, error: Floats, counts: Floats) -> float:
    """Share of 95 % intervals around these means that hold 0."""
    found = around(mean, error, freedom_of(counts.astype(np.int64)))
    return float(((found.low <= 0.0) & (found.high >= 0.0)).mean())


def _fixed(kind: Kind, rng: np.random.Generator, rows: int, n: int) -> float:
    deals = kind.draw(rng, (rows, n))
    counts = np.full(rows, n)
    error = floored(deals.std(axis=1, ddof=1) / np.sqrt(n), counts, STAKES)
    return _holds(deals.mean(axis=1), error, counts)


def main() -> None:
    """Prints coverage, bias and cost for each kind and precision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="of each kind and precision")
    parser.add_argument("--first", type=int, default=FIRST_LOOK, help="deals at the first look")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for kind in KINDS:
        print(kind.name)
        print("  precision   held   held where fixed   bias/precision   deals")
        for needed in NEEDED:
            rng = np.random.default_rng([asked.seed, needed])
            precision = kind.spread / float(np.sqrt(needed))
            ends = [
                _ended(kind.draw(rng, (min(_CHUNK, asked.rows - at), MOST)), precision, asked.first)
                for at in range(0, asked.rows, _CHUNK)
            ]
            mean, error, counts = np.hstack(ends)
            fixed = _fixed(kind, rng, asked.rows, max(2, round(float(counts.mean()))))
            print(
                f"  {precision:9.2f} {_holds(mean, error, counts):6.3f} {fixed:18.3f} "
                f"{mean.mean() / precision:+16.2f} {counts.mean():7.1f}"
            )


if __name__ == "__main__":
    main()
