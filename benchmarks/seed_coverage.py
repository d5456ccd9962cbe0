"""How often 95 % intervals over seeds hold, in a simulation of the 43 bots.

    python benchmarks/seed_coverage.py [--repetitions 300]

Each seed's program plays like one bot of the published table (or draws with everybody), and matches
are normal around its row.  PopExpl and AggScore are minima of noisy means: each program's errs to
the same side.  Printed is how often the interval over seeds covers the true PopReturn, PopExpl and
AggScore: alone, as if nothing erred to one side, and as it is
(`arena.analysis.estimates.over_programs`); and how far off the mean AggScore is.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from arena.analysis.estimates import Estimate, Floats, over_programs
from arena.analysis.metrics import agg_score, pop_expl, pop_return

TABLE = Path(__file__).parents[1] / "tests" / "golden" / "rrps_cross_table.csv"
SPREAD = 26.0
"""Standard deviation of a match's return, throws: about that of two of the 43 bots."""
DRAWS = "draws with all"
METRICS = ((pop_return, 0), (pop_expl, 1), (agg_score, -1))


def rows() -> dict[str, Floats]:
    """True mean returns against the 43 bots."""
    with TABLE.open(newline="") as stream:
        table = list(csv.reader(stream))[1:]
    found = {row[0]: np.array([float(cell) for cell in row[1:]]) for row in table}
    return {DRAWS: np.zeros(len(table)), **{name: found[name] for name in ("greenberg", "randbot")}}


def measured(truth: Floats, matches: int, rng: np.random.Generator) -> list[Estimate]:
    """The three metrics of one program from so many matches a bot."""
    returns = truth + SPREAD * rng.standard_normal((matches, len(truth)))
    mean, error = returns.mean(axis=0)[None], returns.std(axis=0, ddof=1)[None] / matches**0.5
    return [metric(mean, error, np.full_like(mean, matches - 1.0))[0] for metric, _ in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("program, seeds x matches: PopReturn, PopExpl, AggScore; AggScore off by")
    for name, truth in rows().items():
        true = (truth.mean(), -truth.min(), truth.mean() + truth.min())
        for seeds, matches in ((3, 8), (5, 20)):
            covered, off = np.zeros((2, 3)), 0.0
            for _ in range(options.repetitions):
                programs = [measured(truth, matches, rng) for _ in range(seeds)]
                for place, parts in enumerate(zip(*programs, strict=True)):
                    both = (over_programs(parts), over_programs(parts, METRICS[place][1]))
                    covered[:, place] += [one.low <= true[place] <= one.high for one in both]
                    off += both[0].value - true[place] if place == 2 else 0.0
            alone, as_is = (
                ", ".join(f"{one:.2f}" for one in row / options.repetitions) for row in covered
            )
            away = off / options.repetitions
            print(f"{name}, {seeds} x {matches}: {alone} alone, {as_is} as it is; {away:+.1f}")


if __name__ == "__main__":
    main()
