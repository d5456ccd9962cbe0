"""The final table, from nothing but a certificate's lines: the same when it is written and checked.

An entrant is ranked by its AggScore, as on a leaderboard (`arena.analysis.leaderboard`), against
the hidden population, or, where there is none, against all entrants.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from arena.analysis.estimates import Estimate
from arena.analysis.leaderboard import Options, Row, leaderboard
from arena.analysis.stakes import stakes_of
from arena.contest.values import Line, Taking
from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from registry.tournaments import Entry
from registry.values import Credit, PolicyVersion, Status

DIGITS = 9
"""Significant digits of a number in the table: sums differ in the last ones between machines."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = ("matches", "deals", "deal_sizes", "wins", "draws", "losses")
_SIDES = ("forfeits_low", "forfeits_high")


@dataclass(frozen=True, slots=True)
class Measured:
    """The population that entrants are measured on.

    Attributes:
      name: "hidden" or "entrants".
      digests: its members.
    """

    name: str
    digests: tuple[str, ...]


def measured_on(entrants: Sequence[Taking], hidden: Sequence[Taking]) -> Measured:
    """The hidden population, or the entrants where there is none."""
    chosen = hidden or entrants
    return Measured("hidden" if hidden else "entrants", tuple(one.digest for one in chosen))


def pair_sums(lines: Sequence[Line], span: int) -> pa.Table:
    """Sums over the lines of each pair and half of its deals; see `MatchStore.pair_stats`.

    Args:
      lines: of matches, each once.
      span: matches of a deal.
    """
    deals: defaultdict[tuple[str, str, int], list[Line]] = defaultdict(list)
    for line in lines:
        deal = line.match.repetition // span
        deals[line.match.low, line.match.high, deal].append(line)
    sums: dict[tuple[str, str, int], dict[str, float]] = {}
    for (low, high, deal), played in sorted(deals.items()):
        row = sums.setdefault((low, high, deal % 2), defaultdict(float))
        count, total = len(played), math.fsum(one.return_low for one in played)
        row["matches"] += count
        row["total"] += total
        row["deals"] += 1
        row["deal_squares"] += total * total
        row["deal_cross"] += total * count
        row["deal_sizes"] += count * count
        row["wins"] += sum(one.return_low > 0 for one in played)
        row["draws"] += sum(one.return_low == 0 for one in played)
        row["losses"] += sum(one.return_low < 0 for one in played)
        for one in played:
            if one.fault_seat is not None:
                row[_SIDES[one.fault_seat != one.match.repetition % 2]] += 1
    columns: dict[str, Any] = {
        name: pa.array([key[place] for key in sums], kind)
        for place, (name, kind) in enumerate(
            (("low", pa.string()), ("high", pa.string()), ("half", pa.uint8()))
        )
    }
    for name in (*_WHOLE, *_SIDES):
        columns[name] = pa.array([int(row[name]) for row in sums.values()], pa.int64())
    for name in ("total", "deal_squares", "deal_cross"):
        columns[name] = pa.array([row[name] for row in sums.values()], pa.float64())
    return pa.table(columns)


def final_table(
    game: Game, entrants: Sequence[Taking], hidden: Sequence[Taking], lines: Sequence[Line]
) -> tuple[Mapping[str, Any], ...]:
    """One row for each entrant, best first, as JSON has them.

    Args:
      game: what was played.
      entrants: who is ranked.
      hidden: whom they met besides.
      lines: every match.
    """
    sums = pair_sums(lines, 2 if game.has_deals else 1)
    everybody = tuple(dict.fromkeys(one.digest for one in (*entrants, *hidden)))
    table = PayoffTable.from_pair_stats(sums, everybody)
    options = Options(stakes=stakes_of(game))
    versions = [_version(game, one) for one in entrants]
    rows = leaderboard(versions, table, measured_on(entrants, hidden), options)
    return tuple(_told(row) for row in rows)


def author_summary(
    entries: Sequence[Entry], table: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...]:
    """Of each author: entries, and where the best of them stands; the best author first.

    Args:
      entries: that take part.
      table: `final_table` of their policies.
    """
    places = {row["digest"]: place for place, row in enumerate(table)}
    by_author: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda one: (places[one.digest], one.ref)):
        by_author[entry.author].append(entry)
    best_first = sorted(by_author.items(), key=lambda one: (places[one[1][0].digest], one[0]))
    return tuple(_summary(author, own, table, places) for author, own in best_first)


def _summary(
    author: str,
    own: Sequence[Entry],
    table: Sequence[Mapping[str, Any]],
    places: Mapping[str, int],
) -> Mapping[str, Any]:
    """One author's line; `own` has the best entry at first."""
    rows = [table[place] for place in sorted({places[one.digest] for one in own})]
    return {
        "author": author,
        "entries": sorted(one.ref for one in own),
        "best": own[0].ref,
        **{name: rows[0][name] for name in ("rank", "rank_low", "rank_high", "agg_score")},
        "matches": sum(row["matches"] for row in rows),
        "forfeits": sum(row["forfeits"] for row in rows),
    }


def _version(game: Game, taking: Taking) -> PolicyVersion:
    """What a leaderboard needs of an entrant."""
    credits = []
    for ref in taking.names:
        name, _, number = ref.rpartition("@")
        credits.append(Credit(name, int(number), Status.QUALIFIED, "", "", _EPOCH))
    first = credits[0]
    return PolicyVersion(
        digest=taking.digest,
        game=game.name,
        name=first.name,
        number=first.number,
        kind=taking.kind,
        payload="",
        status=Status.QUALIFIED,
        status_reason="",
        description="",
        labels={},
        provenance={},
        parents=(),
        code_digest=taking.code_digest,
        created=_EPOCH,
        credits=tuple(credits),
    )


def _told(row: Row) -> Mapping[str, Any]:
    return {
        "rank": row.rank,
        "rank_low": row.rank_low,
        "rank_high": row.rank_high,
        "ref": row.ref,
        "also": list(row.also),
        "digest": row.digest,
        "agg_score": _estimate(row.agg_score),
        "pop_return": _estimate(row.pop_return),
        "pop_expl": _estimate(row.pop_expl),
        "pop_expl_cross_fitted": _estimate(row.pop_expl_cross_fitted),
        "mean_return": _number(row.mean_return),
        "stderr": _number(row.stderr),
        "matches": row.matches,
        "forfeits": row.forfeits,
        "provisional": row.provisional,
    }


def _estimate(estimate: Estimate | None) -> Mapping[str, float | None] | None:
    if estimate is None:
        return None
    return {name: _number(getattr(estimate, name)) for name in ("value", "stderr", "low", "high")}


def _number(value: float | None) -> float | None:
    """Rounded; None for what is not known or has no bound."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}") + 0.0
