"""The sums that everybody reads: over all matches but those that chose among candidates.

The tallies sum up every stored match.  Where a pair has matches that do not count (its `reach`
tells so), the others are summed up anew from the rows, which only few pairs need.
"""

from __future__ import annotations

from arena.values import SELECTING

COUNTED = f"""
apart as (
    select distinct t.pair from tallies as t semi join chosen using (pair)
    where t.reach > {SELECTING}
), per_deal as (
    select m.pair, m.repetition // c.span as deal,
           count(*) as m, sum(m.return_low) as s, sum(m.return_low * m.return_low) as squares,
           count(*) filter (m.return_low > 0) as wins,
           count(*) filter (m.return_low = 0) as draws,
           count(*) filter (m.return_low < 0) as losses,
           count(*) filter (m.fault_seat = m.repetition % 2) as forfeits_low,
           count(*) filter (m.fault_seat = 1 - m.repetition % 2) as forfeits_high,
           sum(m.micros) as micros
    from matches as m semi join apart using (pair) join chosen as c using (pair)
    where m.repetition < {SELECTING}
    group by m.pair, deal
), counted as (
    select pair, half, matches, total, total_squares, deals, deal_squares, deal_cross, deal_sizes,
           wins, draws, losses, forfeits_low, forfeits_high, micros
    from tallies anti join apart using (pair)
    union all
    select pair, (deal % 2)::utinyint, sum(m)::bigint, sum(s)::double, sum(squares)::double,
           count(*)::bigint, sum(s * s)::double, sum(s * m)::double, sum(m * m)::bigint,
           sum(wins)::bigint, sum(draws)::bigint, sum(losses)::bigint,
           sum(forfeits_low)::bigint, sum(forfeits_high)::bigint, sum(micros)::bigint
    from per_deal group by pair, deal % 2
)
"""
"""Common table expressions; they need `chosen`, with `pair` and `span`, matches of a deal.

`counted` has the columns of `tallies`, without `reach`, and pairs that are not chosen as well: who
reads it joins it with `chosen`, and twice would cost as much again.
"""
