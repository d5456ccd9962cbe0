"""How many times the matches the control variate of Leduc is worth, and that it moves no mean.

    python benchmarks/variance_reduction.py [--matches N]

The house, the starter and eight honest policies of many styles meet in a home of their own, and the
matches of each pair are summed up twice: as they are, and without luck (as by `arena evaluate
--control-variate`).  "saves" is the variance of the plain mean over that of the other.  Both have
duplicate deals with swapped seats, so this comes on top of what duplicates save.  A pair of two
house entrants is known exactly, and is left out.  The last line is over all other pairs: the
difference of the two means in units of the plain error, which is at most about 1 in root mean
square where no mean is moved.
"""

from __future__ import annotations

import argparse
import tempfile

import honest_leduc
import numpy as np

from arena import Arena, Rejection
from arena.control_variate import variance_saved, without_luck
from arena.games import game as game_named
from arena.standings import payoff_table

LEFT_OUT = ("slow-1-ms", "hungry-100-mib")
"""They test limits, and play like another."""


def main() -> None:
    """Plays, and prints the factors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=32, help="of each pair")
    asked = parser.parse_args()
    leduc = game_named("leduc")
    with tempfile.TemporaryDirectory() as folder, Arena(folder, sandbox="process") as arena:
        for name, source in honest_leduc.PROGRAMS.items():
            if name in LEFT_OUT:
                continue
            entered = arena.submit(source, leduc, f"honest/{name}")
            if isinstance(entered, Rejection):
                raise SystemExit(f"{name}: {entered.message}")
        arena.play(leduc, asked.matches, shared=True)
        digests = [version.digest for version in arena.policies(leduc)]
        refs = [arena.refs(digests)[digest] for digest in digests]
        plain = payoff_table(arena.home, leduc, digests)
        reduced = without_luck(arena.home, leduc, digests)
    saved = variance_saved(plain, reduced)
    first, second = np.triu_indices(len(digests), 1)
    known = np.isfinite(saved[first, second]) & (plain.stderr[first, second] > 0.0)
    first, second = first[known], second[known]
    house = np.array([ref.startswith("house/") for ref in refs])
    for ref, here in zip(refs, range(len(refs)), strict=True):
        mine = saved[here][np.isfinite(saved[here]) & (np.arange(len(refs)) != here)]
        if len(mine):
            print(f"{ref:28} saves {np.median(mine):6.1f}, {mine.min():5.1f} to {mine.max():7.1f}")
    for title, chosen in (
        ("against a house entrant", house[first] | house[second]),
        ("between Python policies", ~(house[first] | house[second])),
    ):
        found = saved[first, second][chosen]
        low, middle, high = np.quantile(found, [0.1, 0.5, 0.9])
        print(f"{title}: {len(found)} pairs, median {middle:.1f}, 80 % in {low:.1f} to {high:.1f}")
    moved = (plain.mean - reduced.mean)[first, second] / plain.stderr[first, second]
    size = float(np.sqrt((moved**2).mean()))
    print(f"means moved by {size:.2f} plain errors, {moved.mean():+.2f} on average")


if __name__ == "__main__":
    main()
