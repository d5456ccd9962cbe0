"""The leaderboard as a table: which columns, how wide, and what each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.analysis.estimates import Estimate
from arena.analysis.leaderboard import Row
from arena.figures.text import interval
from arena.games.protocol import Game
from arena.standings import MEAN_RETURN, MORE, RATING, SHARES
from dashboards import links, navigate


@dataclass(frozen=True, slots=True)
class Besides:
    """What is known of rows besides what is in them.

    Attributes:
      bands: number of the band by digest.
      trends: mean returns over time by digest.
      more: whether Bradley-Terry points, Nash mass and alpha-rank are shown.
    """

    bands: Mapping[str, int]
    trends: Mapping[str, Sequence[float]]
    more: bool


def _frame(game: Game, rows: Sequence[Row], besides: Besides) -> pa.Table:
    """The columns of the table, in the order of their weight: a phone shows the first three."""
    frame = pa.Table.from_pylist([_line(game, row, besides) for row in rows])
    # A column without any value has no type yet, and would not be shown as the others are.
    for place, column in enumerate(frame.schema):
        if pa.types.is_null(column.type):
            kind = pa.string() if column.name in (*_TEXTS, *_LINKS) else pa.float64()
            frame = frame.set_column(place, column.name, frame.column(place).cast(kind))
    empty = [] if any(row.forfeits for row in rows) else ["Forfeits"]
    return frame.drop_columns([*empty, *([] if any(row.also for row in rows) else ["Also as"])])


def draw(game: Game, ordered: str, rows: Sequence[Row], besides: Besides) -> None:
    """Draws the table, with the column that it is ordered by directly after the policy.

    Args:
      game: which game.
      ordered: title of that column.
      rows: of the board, in their order.
      besides: what else is known of them.
    """
    frame = _frame(game, rows, besides)
    first = ["Rank", "Policy", ordered, f"{ordered} 95 %"]
    there = [name for name in first if name in frame.column_names]
    frame = frame.select([*there, *(name for name in frame.column_names if name not in there)])
    event = st.dataframe(
        frame,
        hide_index=True,
        placeholder="-",
        on_select="rerun",
        selection_mode="single-row",
        key=f"board_{game.name}",
        height=min(38 + 35 * len(rows), 38 + 35 * 12),
        column_config=_columns(frame, rows),
    )
    chosen = event.selection.rows
    if chosen:
        navigate.go("policy", game=game.name, policy=rows[chosen[0]].ref)


def _line(game: Game, row: Row, besides: Besides) -> dict[str, Any]:
    ranked = row.rank_low is not None and row.rank_high is not None
    line: dict[str, Any] = {
        "Rank": row.rank,
        "Policy": links.policy(game, row.ref),
        **_scored("AggScore", row.agg_score),
        **_scored("PopReturn", row.pop_return),
        **_scored("PopExpl", row.pop_expl),
        "Worst opponent": row.worst and links.policy(game, row.worst.ref),
        "Matches": row.matches,
        "Forfeits": row.forfeits,
        "Could be": _could_be(row) if ranked else None,
        "Band": besides.bands.get(row.digest),
        **_scored("Rating", row.trueskill.belief if row.trueskill else None, digits=1),
        **_scored("Cross-fitted", row.pop_expl_cross_fitted),
        **_scored("Mean return", row.mean_estimate),
        "Trend": list(besides.trends.get(row.digest, ())),
        "Also as": ", ".join(row.also) or None,
    }
    if besides.more:
        for title, (column, digits) in MORE.items():
            line |= _scored(_capital(title), row.secondary(column), digits)
    return line


def _capital(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}"


_SECONDARY = tuple(_capital(title) for title in MORE)
_METRICS = ("AggScore", "PopReturn", "PopExpl", "Cross-fitted", "Rating", "Mean return")
_INTERVALS = tuple(f"{name} 95 %" for name in (*_METRICS, *_SECONDARY))
_LINKS = ("Policy", "Worst opponent")
_TEXTS = ("Could be", "Also as", *_INTERVALS)


def _scored(name: str, estimate: Estimate | None, digits: int = 0) -> dict[str, Any]:
    """A metric, and its own interval in the column after it."""
    told = None if estimate is None else interval(estimate, digits)
    return {name: _value(estimate), f"{name} 95 %": told}


def _could_be(row: Row) -> str:
    told = "" if row.rank_low == row.rank_high else f"{row.rank_low} to {row.rank_high}"
    return f"{told} provisional".strip() if row.provisional else told


def _value(estimate: Estimate | None) -> float | None:
    """The number; the table would write a small negative one as -0.0."""
    if estimate is None:
        return None
    return 0.0 if -0.05 <= estimate.value <= 0 else float(estimate.value)


_HELP = {
    "Could be": "Ranks that the noise leaves open, at 95 %. Provisional: not yet measured as "
    "precisely as a rank takes, so it stands where the low end of its interval puts it among "
    "those that are.",
    "Band": "Rows of a band are not surely different from its best.",
    "AggScore": "PopReturn minus PopExpl.",
    "PopReturn": "Mean return over the evaluation population.",
    "PopExpl": "Loss to its worst opponent there; smaller is better.",
    "Cross-fitted": "PopExpl, with the worst opponent named by the other half of the deals.",
    "Rating": f"{RATING[0].upper()}{RATING[1:]}. Provisional.",
    "Matches": "Of a mixture: so many of one policy would be as sure as its members' are.",
    "Mean return": f"Mean return {MEAN_RETURN}.",
    "Also as": "The same program, handed in later under the name of others.",
    "Trend": "Mean return over all its stored matches, whoever it met, after each twelfth of what "
    "the game has stored. A mixture has none: its members play.",
    **dict.fromkeys(_INTERVALS, "The 95 % interval of the score before it."),
    **{
        f"{_capital(title)} 95 %": f"{SHARES[0].upper()}{SHARES[1:]}."
        for title, (column, _) in MORE.items()
        if column != "bradley_terry"
    },
}


_WIDTHS = {
    "Rank": 48,
    "Policy": 180,
    "AggScore": 76,
    "PopReturn": 80,
    "PopExpl": 70,
    **dict.fromkeys(_INTERVALS, 104),
    "Worst opponent": 170,
    "Matches": 70,
    "Forfeits": 70,
    "Could be": 132,
    "Band": 52,
    "Rating": 60,
    "Also as": 120,
    "Cross-fitted": 92,
    "Mean return": 96,
    "Trend": 76,
}
"""Pixels: in 390 the score stands beside the policy, in 1366 all but the last few do."""
_LETTER, _WIDEST = 6.6, 260
"""Of the column of policies: pixels for a letter of the longest name, whose end tells programs of
one run apart, and most of them."""


def _columns(frame: pa.Table, rows: Sequence[Row]) -> dict[str, Any]:
    longest = _LETTER * max((len(row.ref) for row in rows), default=0)
    decimals = {_capital(title): f"%.{digits}f" for title, (_, digits) in MORE.items()}
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(
            format=decimals.get(name, "%.1f"),
            help=_HELP.get(name),
            width=_WIDTHS.get(name, "small"),
        )
        for name in frame.column_names
        if pa.types.is_floating(frame.schema.field(name).type)
    }
    columns |= {
        name: st.column_config.NumberColumn(
            format="localized", help=_HELP.get(name), width=_WIDTHS[name]
        )
        for name in ("Matches", "Forfeits")
    }
    columns |= {
        name: st.column_config.TextColumn(help=_HELP.get(name), width=_WIDTHS[name])
        for name in _TEXTS
    }
    return columns | {
        "Rank": st.column_config.NumberColumn(pinned=True, width=_WIDTHS["Rank"]),
        "Policy": links.column(
            pinned=True, width=min(max(round(longest), _WIDTHS["Policy"]), _WIDEST)
        ),
        "Worst opponent": links.column(width=_WIDTHS["Worst opponent"]),
        "Band": st.column_config.NumberColumn(help=_HELP["Band"], width=_WIDTHS["Band"]),
        "Trend": st.column_config.LineChartColumn(help=_HELP["Trend"], width=_WIDTHS["Trend"]),
    }
