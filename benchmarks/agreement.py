"""Agreement of the arena's numbers with published ones.

    python benchmarks/agreement.py [--home DIR] [--matches 16]

Plays the round robin of the 43 bots (resumable), and compares with the cross table published with
OpenSpiel (Lanctot et al. 2023; tests/golden/rrps_README.md): correlation, the share of pairs
within 4 combined standard errors, and who is first and second by AggScore.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from arena import Arena

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
SEED_KEY = bytes(32)
"""Of the home, so that everybody gets the same matches."""
PUBLISHED_GAMES = 1000
"""Games behind each published mean."""


def matrix(name: str) -> tuple[list[str], np.ndarray]:
    """A golden table: names of the bots, and the numbers (n, n)."""
    with (GOLDEN / name).open(newline="") as stream:
        rows = list(csv.reader(stream))
    return rows[0][1:], np.array([[float(x) for x in row[1:]] for row in rows[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--home", type=Path, default=Path("agreement-home"))
    parser.add_argument("--matches", type=int, default=16)
    options = parser.parse_args()
    arena = Arena(options.home, seed_key=SEED_KEY)
    bots = arena.policies("rrps", kind="native")
    with arena:
        report = arena.play("rrps", options.matches, only=[bot.digest for bot in bots])
    rate = report.played / report.seconds if report.played else float("nan")
    print(f"played {report.played} in {report.seconds:.1f} s, {rate:.0f} matches/s")

    names, published = matrix("rrps_cross_table.csv")
    _, deviation = matrix("rrps_sd_per_match.csv")
    digest = {bot.name.partition("/")[2]: bot.digest for bot in bots}
    table = arena.payoffs("rrps", [digest[name] for name in names])
    upper = np.triu_indices(len(names), 1)
    ours, theirs = table.mean[upper], published[upper]
    error = np.hypot(
        deviation[upper] / np.sqrt(table.count[upper]), deviation[upper] / np.sqrt(PUBLISHED_GAMES)
    )
    # Deterministic pairs have no spread; half a throw covers how the published means are rounded.
    near = np.abs(ours - theirs) <= 4 * error + 0.5
    print(f"pairs {len(ours)}, correlation {np.corrcoef(ours, theirs)[0, 1]:.5f}")
    print(f"within 4 combined standard errors: {near.mean():.2%}")
    board = arena.leaderboard("rrps").rows
    print("by AggScore:", ", ".join(row.ref for row in board if row.agg_score)[:60])
    first = board[0]
    assert first.agg_score is not None and first.pop_return is not None
    print(
        f"{first.ref}: PopReturn {first.pop_return.value:.1f}, AggScore {first.agg_score.value:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
