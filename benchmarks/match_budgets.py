"""How many matches of the 43 bots decide the same as the full grid, shared out in three ways.

    python benchmarks/match_budgets.py [--tournaments N]

The bots' measured payoffs and the spread of a match of each pair are taken as the truth, and
matches are drawn from them (normal, rounded nowhere).  Each pair begins with 4 matches; further
rounds, each a tenth of what was played, go to all pairs alike, or where `arena.analysis.focus`
says.  After each budget, measured against the truth and averaged over the tournaments: Kendall's
tau of the ranking by AggScore, how many of the top five are right, the mean error of the top five's
PopExpl (throws), what the best policy wins against the meta-equilibrium that was found (throws;
the less the better), and how much of that equilibrium lies outside the true support.  The last two
columns are of all policies' AggScores: their bias, and how often their 95 % intervals hold.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from meta_game_rules import published
from scipy.stats import kendalltau

from arena.analysis.focus import Focus, leaderboard_weights, nash_weights, share_out, spreads
from arena.analysis.metrics import agg_score
from arena.analysis.nash import lp, nash

Floats = np.ndarray
FIRST, GROWTH = 4, 0.1
PER_PAIR = (4, 6, 8, 12, 16, 32, 64)


@dataclass(slots=True)
class Tournament:
    """Matches of all pairs so far, as sums, (p,) each."""

    count: Floats
    total: Floats
    squares: Floats

    def play(self, rng: np.random.Generator, truth: Floats, spread: Floats, more: Floats) -> None:
        """Draws `more` matches of each pair: their sum, and their sum of squares."""
        some = more > 0
        n = more[some]
        mean = truth[some] + spread[some] / np.sqrt(n) * rng.standard_normal(len(n))
        within = spread[some] ** 2 * rng.chisquare(np.maximum(n - 1, 1)) * (n > 1)
        self.count[some] += n
        self.total[some] += n * mean
        self.squares[some] += within + n * mean**2

    def estimates(self) -> tuple[Floats, Floats]:
        """Means and standard errors."""
        mean = self.total / self.count
        variance = np.maximum(self.squares - self.count * mean**2, 0.0) / (self.count - 1)
        return mean, np.sqrt(variance / self.count)


def square(pairs: Floats, n: int, sign: float) -> Floats:
    """(n, n) from the pairs above the diagonal."""
    found = np.zeros((n, n))
    rows, columns = np.triu_indices(n, 1)
    found[rows, columns], found[columns, rows] = pairs, sign * pairs
    return found


def _needs(how: str, mean: Floats, error: Floats, count: Floats, n: int) -> Floats:
    if how == "all alike":
        return np.ones(len(count))
    means, errors = square(mean, n, -1.0), square(error, n, 1.0)
    counts = square(count, n, 1.0).astype(np.int64)
    weights = (
        leaderboard_weights(means, errors, counts, np.arange(n))
        if how == Focus.LEADERBOARD
        else nash_weights(means, errors)
    )
    return weights[np.triu_indices(n, 1)] * spreads(error, count.astype(np.int64))


def _judged(mean: Floats, error: Floats, count: Floats, truth: Floats) -> list[float]:
    """The columns of the table for one measurement."""
    n = len(truth)
    means, errors = square(mean, n, -1.0), square(error, n, 1.0)
    freedom = square(count, n, 1.0) - 1.0
    np.fill_diagonal(freedom, np.inf)
    scores = agg_score(means, errors, freedom)
    right = truth.mean(axis=1) + truth.min(axis=1)
    best = np.argsort(-right)[:5]
    found = np.argsort(-scores.value)[:5]
    sigma = nash(means, errors).weights
    support = lp(truth, np.zeros_like(truth)).weights > 1e-6
    inside = (scores.low <= right + 1e-9) & (scores.high >= right - 1e-9)
    return [
        float(kendalltau(scores.value, right).statistic),
        float(len(set(best) & set(found))),
        float(np.abs(means.min(axis=1) - truth.min(axis=1))[best].mean()),
        float(-(sigma @ truth).min()),
        float(sigma[~support].sum()),
        float((scores.value - right).mean()),
        float(inside.mean()),
    ]


def main() -> None:
    """Simulates and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tournaments", type=int, default=40)
    asked = parser.parse_args()
    truth, deviation = published()
    truth = truth.copy()
    np.fill_diagonal(truth, 0.0)
    n = len(truth)
    upper = np.triu_indices(n, 1)
    pairs = len(upper[0])
    print(
        "matches  shared out       tau  top 5  PopExpl off  exploitable  off support  bias    held"
    )
    kept: dict[tuple[int, str], list[list[float]]] = {}
    for seed in range(asked.tournaments):
        for how in ("all alike", Focus.LEADERBOARD, Focus.NASH):
            rng = np.random.default_rng([seed, 1])
            played = Tournament(*(np.zeros(pairs) for _ in range(3)))
            played.play(rng, truth[upper], deviation[upper], np.full(pairs, FIRST))
            for per_pair in PER_PAIR:
                while (left := per_pair * pairs - int(played.count.sum())) > 0:
                    mean, error = played.estimates()
                    need = _needs(how, mean, error, played.count, n)
                    now = played.count.astype(np.int64)
                    more = min(left, max(1, int(GROWTH * now.sum())))
                    target = share_out(need, now, np.full(pairs, 10**6), more)
                    played.play(rng, truth[upper], deviation[upper], target - now)
                result = _judged(*played.estimates(), played.count, truth)
                kept.setdefault((per_pair * pairs, str(how)), []).append(result)
    for (matches, how), rows in sorted(kept.items()):
        tau, top, expl, lost, off, bias, held = np.mean(rows, axis=0)
        print(
            f"{matches:7,}  {how:12} {tau:8.3f} {top:6.2f} {expl:12.1f} {lost:12.1f} "
            f"{off:12.2f} {bias:+8.2f} {held:7.3f}"
        )


if __name__ == "__main__":
    main()
