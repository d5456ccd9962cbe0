"""Measures the cross table of the 43 bots and compares it with the published one.

Usage: python tests/golden/regenerate_rrps.py [--matches N] [--workers W] [--write-sd]

Prints the agreement, and with --write-sd replaces rrps_sd_per_match.csv by what was measured.
Sixteen matches of all 946 pairs take about a minute on one core.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import multiprocessing
import statistics
from datetime import UTC, datetime
from pathlib import Path

from arena.games import game
from arena.games.rrps.house import rrps_submissions
from arena.kinds.native import bot_of, play
from arena.plan import bout_of
from arena.seeds import Seeds
from arena.values import Match
from registry import digest_of
from registry.values import Season

FOLDER = Path(__file__).parent
CROSS_TABLE = FOLDER / "rrps_cross_table.csv"
SD_PER_MATCH = FOLDER / "rrps_sd_per_match.csv"
PUBLISHED_MATCHES = 1000
"""Matches behind each cell of the published table."""

SEEDS = Seeds(Season(1, "", datetime.now(UTC), None, False, key=bytes(32)))
"""Everybody measures the same matches."""

Table = dict[tuple[str, str], float]


def read_table(path: Path) -> Table:
    """(row bot, column bot) to the cell."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return {
        (row[0], column): float(cell)
        for row in rows
        for column, cell in zip(header[1:], row[1:], strict=True)
    }


def returns_of(pair: tuple[str, str], matches: int) -> list[float]:
    """Returns of the first bot of the pair, one for each match, seats swapping."""
    rrps = game("rrps")
    payload_of_digest = {
        digest_of(entrant.game, entrant.kind, entrant.payload): entrant.payload
        for entrant in rrps_submissions()
    }
    digest_of_bot = {
        bot_of(game("rrps"), payload): digest for digest, payload in payload_of_digest.items()
    }
    one, other = (digest_of_bot[bot] for bot in pair)
    returns = []
    for repetition in range(matches):
        match = Match.between(rrps.name, rrps.version, one, other, repetition)
        bout = bout_of(match, SEEDS, lambda digest, _: digest)
        first, second = bout.players
        result = play(rrps, bout, (payload_of_digest[first], payload_of_digest[second]))
        returns.append(result.returns[match.seats.index(one)])
    return returns


def deviation(mean: float, published: float, sd: float, matches: int) -> float:
    """Difference in combined standard errors; infinite where an exact cell differs."""
    error = sd * math.sqrt(1 / matches + 1 / PUBLISHED_MATCHES)
    if error == 0:
        return 0.0 if mean == published else math.inf
    return abs(mean - published) / error


def _measure(task: tuple[tuple[str, str], int]) -> tuple[tuple[str, str], list[float]]:
    return task[0], returns_of(*task)


def _write(path: Path, table: Table, bots: list[str]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["bot", *bots])
        writer.writerows([row, *(f"{table[row, col]:.2f}" for col in bots)] for row in bots)


def main() -> None:
    """Measures, compares, and writes on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=16, help="for each pair, at least 2")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write-sd", action="store_true")
    options = parser.parse_args()
    published, sds = read_table(CROSS_TABLE), read_table(SD_PER_MATCH)
    bots = sorted({row for row, _ in published})
    means: Table = {}
    measured_sds: Table = {}
    tasks = [(pair, options.matches) for pair in itertools.combinations_with_replacement(bots, 2)]
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for (row, col), returns in pool.imap_unordered(_measure, tasks, chunksize=8):
            means[row, col], means[col, row] = statistics.fmean(returns), -statistics.fmean(returns)
            measured_sds[row, col] = measured_sds[col, row] = statistics.stdev(returns)
    off = {
        cell: deviation(mean, published[cell], sds[cell], options.matches)
        for cell, mean in means.items()
    }
    cells = sorted(published)
    correlation = statistics.correlation([means[c] for c in cells], [published[c] for c in cells])
    within = sum(off[cell] <= 4 for cell in cells) / len(cells)
    print(f"correlation {correlation:.5f}; {within:.1%} of cells within 4 standard errors")
    for cell in sorted(cells, key=lambda cell: -off[cell])[:10]:
        print(f"{off[cell]:6.1f}  {cell[0]} v {cell[1]}: {means[cell]:.1f}, {published[cell]:.1f}")
    if options.write_sd:
        _write(SD_PER_MATCH, measured_sds, bots)


if __name__ == "__main__":
    main()
