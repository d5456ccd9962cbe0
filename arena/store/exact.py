"""Sums over an exact set of matches: so many repetitions of each pair, from one on.

More matches of the same pairs may be stored, because somebody else played them.  Who asks for
these must not see those, or what follows would depend on its company.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from arena.store.catalog import Connection


def exact_pair_stats(
    connection: Connection,
    game: str,
    version: int,
    span: int,
    wanted: Mapping[tuple[str, str], int],
    first: int,
) -> pa.Table:
    """See `MatchStore.exact_pair_stats`; `span` is the number of matches of a deal."""
    limits = {(min(pair), max(pair)): first + matches for pair, matches in wanted.items()}
    parameters = {
        "game": game,
        "version": version,
        "low": [low for low, _ in limits],
        "high": [high for _, high in limits],
        "limit": list(limits.values()),
        "span": span,
        "first": first,
    }
    rows = connection.execute(_SUMS, parameters).fetchall()
    columns = zip(*rows, strict=True) if rows else ([] for _ in _COLUMNS)
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, _COLUMNS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_COLUMNS)


_COLUMNS = pa.schema(
    [
        ("low", pa.string()),
        ("high", pa.string()),
        ("half", pa.uint8()),
        ("matches", pa.int64()),
        ("total", pa.float64()),
        ("deals", pa.int64()),
        ("deal_squares", pa.float64()),
        ("deal_cross", pa.float64()),
        ("deal_sizes", pa.int64()),
        ("wins", pa.int64()),
        ("draws", pa.int64()),
        ("losses", pa.int64()),
        ("forfeits_low", pa.int64()),
        ("forfeits_high", pa.int64()),
    ]
)
"""As `MatchStore.pair_stats` calls them."""
_SUMS = """
with wanted as (
    select unnest($low::varchar[]) as low, unnest($high::varchar[]) as high,
           unnest($limit::integer[]) as most
), numbered as (
    select w.low, w.high, w.most, p.pair
    from wanted as w
    join policies as l on l.digest = w.low
    join policies as h on h.digest = w.high
    join pairs as p on p.low = l.policy and p.high = h.policy
    join games as g on g.game = p.game and g.name = $game and g.version = $version
), per_deal as (
    select n.low, n.high, m.repetition // $span as deal,
           count(*) as m, sum(m.return_low) as s,
           count(*) filter (m.return_low > 0) as wins,
           count(*) filter (m.return_low = 0) as draws,
           count(*) filter (m.return_low < 0) as losses,
           count(*) filter (m.fault_seat = m.repetition % 2) as forfeits_low,
           count(*) filter (m.fault_seat = 1 - m.repetition % 2) as forfeits_high
    from matches as m
    join numbered as n on n.pair = m.pair and m.repetition >= $first and m.repetition < n.most
    group by n.low, n.high, deal
)
select low, high, (deal % 2)::utinyint as half,
       sum(m)::bigint as matches, sum(s)::double as total,
       count(*)::bigint as deals, sum(s * s)::double as deal_squares,
       sum(s * m)::double as deal_cross, sum(m * m)::bigint as deal_sizes,
       sum(wins)::bigint as wins, sum(draws)::bigint as draws, sum(losses)::bigint as losses,
       sum(forfeits_low)::bigint as forfeits_low, sum(forfeits_high)::bigint as forfeits_high
from per_deal group by low, high, half order by low, high, half
"""
