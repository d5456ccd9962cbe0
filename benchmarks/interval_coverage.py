"""What the 95 % intervals of few deals cover, in a simulation.

    python benchmarks/interval_coverage.py

Kuhn poker's stakes (200 chips, 100 hands).  Five kinds of deals, each with a known mean; n deals of
each are drawn 20,000 times, and the interval of their mean is computed as the leaderboard computes
it: with the spread that the other pairs of a table show, and inside what the game allows.  Beside
it stands Student's interval alone, which takes n equal deals for certainty.  "Normal" and
"hundred hands" are what matches are like; the other three are hard on purpose.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arena.analysis.estimates import Floats, around, freedom_of
from arena.analysis.stakes import UNKNOWN, Stakes, doubted
from arena.payoffs import Scatter

STAKES = Stakes(most=200.0, spread=20.0)
SIZES = (2, 3, 4, 5, 8, 10, 16, 25, 50, 100)
_OTHERS, _OTHERS_DEALS, _OTHERS_SPREAD = 5, 16, 10.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of deals: how they are drawn (a shape of draws), and their mean."""

    name: str
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    mean: float


def _hands(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sums of 100 hands of -2, -1, 1 or 2 chips."""
    counts = rng.multinomial(100, (0.1, 0.45, 0.35, 0.1), size=shape)
    return (counts @ np.array([-2.0, -1.0, 1.0, 2.0])).astype(np.float64)


def _values(values: tuple[float, ...], chances: tuple[float, ...]) -> Kind:
    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return np.asarray(rng.choice(values, p=chances, size=shape), dtype=np.float64)

    told = ", ".join(f"{v:g} ({p:.0%})" for v, p in zip(values, chances, strict=True))
    return Kind(told, draw, float(np.dot(values, chances)))


KINDS = (
    Kind("normal, spread 13", lambda rng, shape: 3.0 + 13.0 * rng.standard_normal(shape), 3.0),
    Kind("hundred hands", _hands, -10.0),
    _values((0.0, 2.0, -2.0), (0.9, 0.06, 0.04)),
    _values((0.0, 20.0), (0.9, 0.1)),
    _values((0.0, -200.0), (0.98, 0.02)),
)


def _covered(deals: Floats, mean: float, stakes: Stakes, rng: np.random.Generator) -> Floats:
    """(2,) share of the rows of (r, n) deals whose interval covers the mean, and its mean width."""
    n = deals.shape[1]
    counts = np.full(deals.shape[0], n)
    stderr = deals.std(axis=1, ddof=1) / np.sqrt(n)
    freedom = np.full((_OTHERS, _OTHERS), _OTHERS_DEALS)
    spread = _OTHERS_SPREAD * np.sqrt(rng.chisquare(_OTHERS_DEALS - 1, freedom.shape) / 15.0)
    upper = np.triu_indices(_OTHERS, k=1)
    scatter = Scatter.of((spread / np.sqrt(_OTHERS_DEALS))[upper], freedom[upper])
    found = around(
        deals.mean(axis=1), doubted(stderr, counts, scatter, stakes), freedom_of(counts)
    ).within(stakes.most)
    inside = (found.low - 1e-9 <= mean) & (mean <= found.high + 1e-9)
    return np.array([inside.mean(), (found.high - found.low).mean()])


def main() -> None:
    """Prints coverage (and mean width in chips) for each kind and number of deals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="intervals of each kind and size")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for kind in KINDS:
        print(f"{kind.name}; true mean {kind.mean:g}")
        print("    n    covered    width    Student alone    width")
        for n in SIZES:
            rng = np.random.default_rng([asked.seed, n])
            deals = kind.draw(rng, (asked.rows, n))
            ours, (alone, its_width) = (
                _covered(deals, kind.mean, stakes, rng) for stakes in (STAKES, UNKNOWN)
            )
            print(f"  {n:3}    {ours[0]:8.3f} {ours[1]:8.1f}    {alone:12.3f} {its_width:8.1f}")


if __name__ == "__main__":
    main()
