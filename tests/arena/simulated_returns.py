"""Pair statistics of made-up matches, summed up one match at a time, for tests of the analysis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from arena.payoffs import PayoffTable

_COLUMNS = (
    *("matches", "total", "total_squares"),
    *("deals", "deal_squares", "deal_cross", "deal_sizes"),
    *("wins", "draws", "losses", "forfeits_low", "forfeits_high"),
)


class Played(NamedTuple):
    one: str
    other: str
    deal: int
    return_one: float
    forfeit: str | None = None


def in_order(stats: pa.Table) -> list[dict[str, object]]:
    """The rows of pair statistics, which have no order, in one."""
    return sorted(stats.to_pylist(), key=lambda row: (row["low"], row["high"], row["half"]))


def same_table(one: PayoffTable, other: PayoffTable) -> None:
    """Fails where two tables differ in anything but names."""
    assert one.digests == other.digests
    for name in set(PayoffTable.__slots__) - {"digests", "names"}:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def pair_stats(matches: Iterable[Played], *, encode: bool = True) -> pa.Table:
    """What `MatchStore.pair_stats` would return, by the definition of its columns."""
    deals = defaultdict(list)
    for match in matches:
        low, high = sorted(match[:2])
        value = match.return_one if match.one == low else 0.0 - match.return_one
        deals[low, high, match.deal].append((value, match.forfeit))
    sums = defaultdict(lambda: dict.fromkeys(_COLUMNS, 0.0))
    for (low, high, deal), played in deals.items():
        row = sums[low, high, deal % 2]
        total, size = sum(value for value, _ in played), len(played)
        terms = (total**2, total * size, size**2)
        row["deals"] += 1
        for name, term in zip(("deal_squares", "deal_cross", "deal_sizes"), terms, strict=True):
            row[name] += term
        for value, forfeit in played:
            row["matches"] += 1
            row["total"] += value
            row["total_squares"] += value**2
            row["wins" if value > 0 else "losses" if value < 0 else "draws"] += 1
            if forfeit is not None:
                row["forfeits_low" if forfeit == low else "forfeits_high"] += 1
    keys = sorted(sums)
    names = [pa.array([key[side] for key in keys], pa.string()) for side in (0, 1)]
    table = {
        "low": names[0].dictionary_encode() if encode else names[0],
        "high": names[1].dictionary_encode() if encode else names[1],
        "half": pa.array([key[2] for key in keys], pa.uint8()),
    }
    for name in _COLUMNS:
        real = name in ("total", "total_squares", "deal_squares", "deal_cross")
        values = [sums[key][name] for key in keys]
        table[name] = pa.array(values if real else [int(v) for v in values])
    table["seconds"] = pa.array([0.0] * len(keys), pa.float64())
    return pa.table(table)


def round_robin(
    digests: tuple[str, ...],
    payoffs: np.ndarray,
    deviation: float,
    matches: int,
    rng: np.random.Generator,
) -> list[Played]:
    """Normal returns around true payoffs (n, n), each match its own deal."""
    return [
        Played(one, other, deal, float(payoffs[i, j] + deviation * rng.standard_normal()))
        for i, one in enumerate(digests)
        for j, other in enumerate(digests)
        if i < j
        for deal in range(matches)
    ]
