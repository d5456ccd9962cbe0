"""Who is how good, how surely, and against whom not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.analysis.leaderboard import RankBy, Row
from arena.games.protocol import Game
from dashboards import data, navigate, theme
from dashboards.charts.intervals import Line, Reference, intervals
from dashboards.text import in_markdown, short_ref
from population.paper import methods
from registry.values import PolicyVersion

CHARTED = 15
"""Rows of the chart; the table has all."""

ORDERS = {
    RankBy.AGG_SCORE: "AggScore",
    RankBy.POP_RETURN: "PopReturn",
    RankBy.POP_EXPL: "PopExpl",
    RankBy.RATING: "Rating",
    RankBy.MEAN_RETURN: "Mean return",
}


def show(game: Game) -> None:
    """Draws the page."""
    population = data.population_of(game)
    st.caption(
        f"{in_markdown(game.title)}: {game.unit} a match, measured on the frozen population "
        f"{in_markdown(population.name)}. Select a row to open its policy."
    )
    by, more, shown = _controls(game)
    rows = data.board(game, by.value, more)
    bands = bands_of(rows)
    if by is RankBy.RATING and not data.ratings(game).serial:
        st.info("Ratings are being computed; until then the order is by AggScore.")
    _headline(rows)
    left = [row for row in rows if row.digest in shown]
    if not left:
        st.info("No policy fits these filters. Clear the search, or choose fewer filters.")
        return
    if all(row.agg_score is None for row in left):
        st.info(
            f"Scores need matches against all {len(population.digests)} members of "
            f"{in_markdown(population.name)}: run  `arena play --game {game.name}`"
        )
    _table(game, left, bands, more)
    _chart(game, by, left, bands)


def _controls(game: Game) -> tuple[RankBy, bool, set[str]]:
    """What to order by, whether to show more columns, and the digests that the filters leave."""
    versions = data.field(game).versions
    search, order, filters = st.columns([4, 3, 2], vertical_alignment="bottom")
    words = search.text_input(
        "Search", placeholder="Name, description, author …", key="board_search"
    )
    by = order.selectbox("Ranked by", list(ORDERS), format_func=ORDERS.__getitem__, key="board_by")
    with filters.popover("Filters", icon=":material/filter_list:", width="stretch"):
        authors = st.multiselect("Author", sorted({v.author for v in versions}))
        kinds = st.multiselect("Kind", sorted({v.kind for v in versions}))
        labels = st.multiselect("Label", sorted(label for v in versions for label in _labels(v)))
        runs = st.multiselect("Run", sorted({run for v in versions if (run := run_of(v))}))
        more = st.toggle("Bradley-Terry, Nash mass and alpha-rank", key="board_more")
    wanted = words.lower().split()
    shown = {
        version.digest
        for version in versions
        if (not authors or version.author in authors)
        and (not kinds or version.kind in kinds)
        and (not labels or set(labels) & set(_labels(version)))
        and (not runs or run_of(version) in runs)
        and all(word in f"{version.ref} {version.description}".lower() for word in wanted)
    }
    return by, more, shown


def _labels(version: PolicyVersion) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in version.labels.items())


def run_of(version: PolicyVersion) -> str:
    """The CSRO run that a version came from, "" for none."""
    return str(version.labels.get("run") or version.provenance.get("run") or "")


def bands_of(rows: Sequence[Row]) -> dict[str, int]:
    """Band of each ranked digest: 1, 2, ...

    A band starts with the best row that is left, and takes in the rows after it that no more rows
    than those before the band are surely better than: the noise does not part them from its head.
    """
    bands: dict[str, int] = {}
    head, band = 0, 0
    for row in rows:
        if row.rank_low is None:
            continue
        if not bands or row.rank_low > head:
            head, band = row.rank, band + 1
        bands[row.digest] = band
    return bands


def _headline(rows: Sequence[Row]) -> None:
    matches = sum(row.matches for row in rows) // 2
    forfeits = sum(row.forfeits for row in rows)
    st.caption(f"{len(rows):,} policies · {matches:,} matches · {forfeits:,} forfeits")


def _chart(game: Game, by: RankBy, rows: Sequence[Row], bands: Mapping[str, int]) -> None:
    """Scores with intervals, in the colour of their band, beside the paper's methods."""
    if by in (RankBy.RATING, RankBy.MEAN_RETURN):
        by = RankBy.AGG_SCORE
    scored = [(row, estimate) for row in rows if (estimate := getattr(row, by.value)) is not None]
    if not scored:
        return
    published = methods(game.name)
    references = [
        Reference(f"{paper.method} (paper)", getattr(paper, by.value).mean) for paper in published
    ]
    lines = [
        Line(
            f"{row.rank}  {short_ref(row.ref)}",
            estimate,
            theme.SERIES[(bands.get(row.digest, 1) - 1) % len(theme.SERIES)],
        )
        for row, estimate in scored[:CHARTED]
    ]
    least = min(estimate.value for _, estimate in scored[:CHARTED])
    near = [one for one in references if one.value > least - 60]
    with st.container(border=True):
        st.markdown(f"**{ORDERS[by]}** with 95 % intervals; rows of one colour share a band")
        st.html(intervals(lines, f"{game.unit} a match", references=near))
        if near:
            ordered = sorted(near, key=lambda one: one.value)
            st.caption(
                "Dotted, as published: "
                + ", ".join(
                    f"{place} {in_markdown(one.label.removesuffix(' (paper)'))} {one.value:.1f}"
                    for place, one in enumerate(ordered, start=1)
                )
            )


def _table(game: Game, rows: Sequence[Row], bands: Mapping[str, int], more: bool) -> None:
    trends = data.trends(game)
    forfeits = any(row.forfeits for row in rows)
    frame = pa.Table.from_pylist([_line(row, bands, trends, more) for row in rows])
    if not forfeits:
        frame = frame.drop_columns(["Forfeits"])
    event = st.dataframe(
        frame,
        hide_index=True,
        placeholder="-",
        on_select="rerun",
        selection_mode="single-row",
        key=f"board_{game.name}",
        height=min(38 + 35 * len(rows), 38 + 35 * 12),
        column_config=_columns(frame),
    )
    chosen = event.selection.rows
    if chosen:
        navigate.go("policy", game=game.name, policy=rows[chosen[0]].ref)


def _line(
    row: Row,
    bands: Mapping[str, int],
    trends: Mapping[str, Sequence[float]],
    more: bool,
) -> dict[str, Any]:
    tied = row.rank_low is not None and row.rank_low != row.rank_high
    line: dict[str, Any] = {
        "Rank": row.rank,
        "Policy": row.ref,
        "Could be": f"{row.rank_low} to {row.rank_high}" if tied else "",
        "Band": bands.get(row.digest),
        "AggScore": _value(row.agg_score),
        "95 % low": row.agg_score.low if row.agg_score else None,
        "95 % high": row.agg_score.high if row.agg_score else None,
        "PopReturn": _value(row.pop_return),
        "PopExpl": _value(row.pop_expl),
        "Cross-fitted": _value(row.pop_expl_cross_fitted),
        "Rating": row.trueskill.conservative if row.trueskill else None,
        "Mean return": row.mean_return,
        "Trend": list(trends.get(row.digest, ())),
        "Worst opponent": f"{short_ref(row.worst.ref)} {row.worst.mean:+.1f}" if row.worst else "",
        "Matches": row.matches,
        "Forfeits": row.forfeits,
    }
    if more:
        line |= {
            "Bradley-Terry": row.bradley_terry,
            "Nash mass": row.nash_mass,
            "Alpha-rank": row.alpha_rank,
        }
    return line


def _value(estimate: Any) -> float | None:
    return None if estimate is None else float(estimate.value)


_HELP = {
    "Could be": "Ranks that the noise leaves open, at 95 %.",
    "Band": "Rows of a band are not surely different from its best.",
    "AggScore": "PopReturn minus PopExpl.",
    "PopReturn": "Mean return over the evaluation population.",
    "PopExpl": "Loss to its worst opponent there; smaller is better.",
    "Cross-fitted": "PopExpl, with the worst opponent named by the other half of the deals.",
    "Rating": "TrueSkill, conservative (mu - 3 sigma); provisional.",
    "Mean return": "Over everybody that it met.",
    "Trend": "How the mean return settled as matches were stored.",
}


def _columns(frame: pa.Table) -> dict[str, Any]:
    decimals = {"Nash mass": "%.3f", "Alpha-rank": "%.3f", "Bradley-Terry": "%.0f"}
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(
            format=decimals.get(name, "%.1f"), help=_HELP.get(name), width="small"
        )
        for name in frame.column_names
        if pa.types.is_floating(frame.schema.field(name).type)
    }
    columns |= {
        name: st.column_config.NumberColumn(format="localized", width="small")
        for name in ("Matches", "Forfeits")
    }
    return columns | {
        "Rank": st.column_config.NumberColumn(pinned=True, width=48),
        "Policy": st.column_config.TextColumn(pinned=True, width="medium"),
        "Could be": st.column_config.TextColumn(help=_HELP["Could be"], width="small"),
        "Band": st.column_config.NumberColumn(help=_HELP["Band"], width=56),
        "Trend": st.column_config.LineChartColumn(help=_HELP["Trend"], width="small"),
    }
