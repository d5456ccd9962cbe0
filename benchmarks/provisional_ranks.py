"""Where provisional rows should stand: rankings from few matches against that from many.

    python benchmarks/provisional_ranks.py [HOME]

The 43 bots play 100 matches a pair in HOME (by default in a passing one; some 3 minutes), which
rank them by AggScore.  Then they are ranked from blocks of n of these matches by four rules, and
compared: Kendall's tau, how many of the top five are right, by how many ranks the top ten are off.
Last, each bot in turn is a newcomer with n matches a pair among others with 100: by how many ranks
it stands too high, and too low, on average and at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from arena import Arena
from arena.analysis.estimates import Estimates
from arena.analysis.metrics import meetings, population_metrics
from arena.analysis.ranks import ranks
from arena.analysis.stakes import stakes_of
from arena.games import game as game_named
from arena.house.population import population_of
from arena.schedule import pairs_among
from arena.tally import Pair

RRPS = game_named("rrps")
STAKES = stakes_of(RRPS)
MANY = 100
"""Matches a pair that the true ranking rests on."""
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def _placed(order: NDArray[np.intp]) -> Places:
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    return places


def _as_it_is(scores: Estimates, provisional: Bools) -> Places:
    names = [str(place) for place in range(len(provisional))]
    return _placed(np.array(list(ranks(scores, provisional, names)), np.intp))


RULES: dict[str, Callable[[Estimates, Bools], Places]] = {
    "behind all": lambda scores, late: _placed(np.lexsort((-scores.value, late))),
    "low end": lambda scores, late: _placed(np.argsort(-scores.low, kind="stable")),
    "score": lambda scores, late: _placed(np.argsort(-scores.value, kind="stable")),
    "as it is": _as_it_is,
}


class Bots:
    """AggScores of the 43 bots from some of their matches."""

    def __init__(self, arena: Arena) -> None:
        self.arena, self.digests = arena, population_of("rrps", None).digests
        self.pairs: list[Pair] = pairs_among(self.digests, ())
        arena.play_pairs(RRPS, dict.fromkeys(self.pairs, MANY))

    def scores(self, wanted: dict[Pair, int], first: int = 0) -> tuple[Estimates, Bools]:
        """Scores, and which of them are provisional."""
        table = self.arena.exact_payoffs(RRPS, self.digests, wanted, first=first)
        met = meetings(table, self.digests, self.digests, STAKES)
        found = population_metrics(met).agg_score
        return found, ~((found.high - found.low) / 2.0 <= STAKES.precision)

    def blocks(self, matches: int) -> Iterator[tuple[Estimates, Bools]]:
        """From each block of so many matches a pair."""
        for first in range(0, MANY - matches + 1, matches):
            yield self.scores(dict.fromkeys(self.pairs, matches), first)

    def newcomers(self, matches: int) -> Iterator[tuple[Estimates, Bools]]:
        """Each bot in turn with so many matches a pair, all others with `MANY`."""
        for one in self.digests:
            yield self.scores({pair: matches if one in pair else MANY for pair in self.pairs})


def _judged(place: Places, true: Places) -> list[float]:
    tau = float(kendalltau(place, true)[0])
    top = np.sort(true[place < 5]) < 5
    return [tau, float(top.sum()), float(np.abs(place - true)[true < 10].mean())]


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", nargs="?", type=Path)
    home = parser.parse_args().home
    passing = TemporaryDirectory() if home is None else nullcontext(home)
    with passing as folder, Arena(folder) as arena:
        bots = Bots(arena)
        true = RULES["score"](*bots.scores(dict.fromkeys(bots.pairs, MANY)))
        print("n, provisional: tau, of the top five right, top ten off by, by rule")
        for matches in (4, 8, 16, 32):
            blocks = list(bots.blocks(matches))
            late = np.mean([provisional.sum() for _, provisional in blocks])
            print(f"{matches:3} {late:5.1f}", end="")
            for name, rule in RULES.items():
                tau, top, off = np.mean([_judged(rule(*one), true) for one in blocks], axis=0)
                print(f"  {name}: {tau:.3f} {top:.2f} {off:.2f}", end="")
            print()
        print(
            "newcomers with n matches: ranks too high (mean, most), too low (mean, most), by rule"
        )
        for matches in (2, 4, 8, 16):
            found = list(bots.newcomers(matches))
            print(f"{matches:3}", end="")
            for name, rule in RULES.items():
                high = np.array([true[k] - rule(*one)[k] for k, one in enumerate(found)])
                up, down = np.maximum(high, 0), np.maximum(-high, 0)
                told = f"{up.mean():.2f} {up.max()} {down.mean():.1f} {down.max()}"
                print(f"  {name}: {told}", end="")
            print()


if __name__ == "__main__":
    main()
