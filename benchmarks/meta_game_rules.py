"""What the rules that choose a meta-strategy cost and bring on noisy payoff tables.

Usage: python benchmarks/meta_game_rules.py [--tables N]

A true table is measured with noise, a rule chooses a mixture from the measurement, and the mixture
is judged on the truth: how much the best policy wins against it (exploitability), by how much more
than what the plain program's mixture loses (regret), and its mean payoff over all policies.  The
tables are the published one of the 43 bots, random cyclic games, random games with strong and
weak policies, and the weak opponent of whom little is known (A beats B a little, for sure; a weak W
loses much to both, nobody knows how much exactly); payoffs in units per match.

The rule with yardsticks also sees payoffs against 19 others who cannot be played, measured with
the noise of the others; how strong a policy is against these has nothing to do with the table.
What mixtures return against them in truth stands in the last column.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from arena.analysis.nash import lp, nash

Floats = NDArray[np.float64]
GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
RULES: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "lp": lambda mean, error, others: lp(mean, error).weights,
    "nash": lambda mean, error, others: nash(mean, error).weights,
    "nash, 2 errors": lambda mean, error, others: nash(mean, error, noise_factor=2.0).weights,
    "nash, yardsticks": lambda mean, error, others: nash(mean, error, beyond=others).weights,
}
YARDSTICKS = 19
STRENGTH, SPREAD = 50.0, 100.0
"""Standard deviations of what a policy returns against all yardsticks, and against one more."""
WEAK = np.array([[0.0, 50.0, 400.0], [-50.0, 0.0, 700.0], [-400.0, -700.0, 0.0]])
WEAK_ERROR = np.array([[0.0, 3.0, 60.0], [3.0, 0.0, 60.0], [60.0, 60.0, 0.0]])


def published() -> tuple[Floats, Floats]:
    """Payoffs of the 43 bots and the standard deviations of a match, (43, 43) each."""
    tables = []
    for name in ("rrps_cross_table.csv", "rrps_sd_per_match.csv"):
        with (GOLDEN / name).open(newline="") as file:
            _, *rows = csv.reader(file)
        tables.append(np.array([row[1:] for row in rows], float))
    payoffs, deviations = tables
    return (payoffs - payoffs.T) / 2, deviations


def tables(rng: np.random.Generator, count: int) -> Iterator[tuple[str, Floats, Floats]]:
    """Names, true payoffs and standard errors of their measurement."""
    payoffs, deviations = published()
    for matches in (4, 16, 64):
        for _ in range(count):
            yield f"43 bots, {matches} matches", payoffs, deviations / np.sqrt(matches)
    for kind, spread in (("cyclic", 0.0), ("strong and weak", 30.0)):
        for n in (5, 20):
            for _ in range(count):
                strength = rng.normal(size=n) * spread
                cycle = np.triu(rng.normal(size=(n, n)) * 100.0, 1)
                error = np.triu(rng.uniform(1.0, 60.0, size=(n, n)), 1)
                payoffs = strength[:, None] - strength[None, :] + cycle - cycle.T
                yield f"{kind}, {n} policies", payoffs, error + error.T
    for _ in range(count):
        yield "a weak one, 3 policies", WEAK, WEAK_ERROR


def beyond(rng: np.random.Generator, error: Floats) -> tuple[Floats, Floats]:
    """What policies return against yardsticks, in truth and as measured."""
    n = len(error)
    truth = rng.normal(size=(n, 1)) * STRENGTH + rng.normal(size=(n, YARDSTICKS)) * SPREAD
    noise = float(np.median(error[np.triu_indices(n, 1)]))
    return truth, truth + rng.normal(size=truth.shape) * noise


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=40, help="of each kind")
    rng, other_rng = np.random.default_rng(1), np.random.default_rng(2)
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for name, truth, error in tables(rng, parser.parse_args().tables):
        noise = np.triu(rng.normal(size=truth.shape) * error, 1)
        plain = 0.0
        others, seen = beyond(other_rng, error)
        for rule, choose in RULES.items():
            chosen = choose(truth + noise - noise.T, error, seen)
            gained = chosen @ truth
            lost = max(0.0, -float(gained.min()))
            plain = lost if rule == "lp" else plain
            row = (lost, lost - plain, float(gained.mean()), float((chosen @ others).mean()))
            found.setdefault((name, rule), []).append(row)
    print(
        f"{'table':30}{'rule':18}{'exploitability':>14}{'regret [95 %]':>22}{'mean payoff':>13}"
        f"{'yardsticks':>12}"
    )
    for (name, rule), rows in found.items():
        lost, regret, mean, outside = np.array(rows).T
        student = float(t.ppf(0.975, len(regret) - 1))
        reach = student * regret.std(ddof=1) / np.sqrt(len(regret))
        told = f"{regret.mean():+.1f} +- {reach:.1f}"
        print(
            f"{name:30}{rule:18}{lost.mean():14.1f}{told:>22}{mean.mean():13.1f}"
            f"{outside.mean():12.1f}"
        )


if __name__ == "__main__":
    main()
