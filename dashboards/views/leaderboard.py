"""Who is how good, how surely, and against whom not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.analysis.estimates import Estimate
from arena.analysis.leaderboard import NASH_RULE, RankBy, Row
from arena.figures import colours
from arena.figures.intervals import Line, Reference, comparable, fitting, intervals
from arena.figures.text import interval, number, short_ref, signed
from arena.games.protocol import Game
from arena.listings import also
from arena.standings import MEAN_RETURN
from dashboards import data, navigate
from dashboards.text import in_markdown
from population.paper import methods
from registry.values import PolicyVersion

CHARTED = 15
"""Rows of the chart; the table has all."""
NAMED = 3
"""How many of the rows that lie too far below for the chart are named beside it."""

ORDERS = {
    RankBy.AGG_SCORE: "AggScore",
    RankBy.POP_RETURN: "PopReturn",
    RankBy.POP_EXPL: "PopExpl",
    RankBy.RATING: "Rating",
    RankBy.MEAN_RETURN: "Mean return",
}
_OF_ALL_MATCHES = (RankBy.RATING, RankBy.MEAN_RETURN)
"""Orders that do not need the evaluation population."""


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
        by = RankBy.AGG_SCORE
    left = [row for row in rows if row.digest in shown]
    _headline(game, rows, len(left))
    if not left:
        st.info("No policy fits these filters. Clear the search, or choose fewer filters.")
        return
    _unranked(game, by, left)
    _table(game, by, left, _frame(left, bands, data.trends(game), more))
    if more and (nash := data.meta_strategy(game, "nash")):
        st.caption(
            f"Nash mass: {NASH_RULE}. The best single policy wins "
            f"{number(nash[1].exploitability, 2)} {game.unit} a match against it."
        )
    _chart(game, by, left, bands)


def _controls(game: Game) -> tuple[RankBy, bool, set[str]]:
    """What to order by, whether to show more columns, and the digests that the filters leave."""
    versions = data.field(game).versions
    search, order, filters = st.columns([4, 3, 2], vertical_alignment="bottom")
    navigate.follow("search", "board_search")
    words = search.text_input(
        "Search", placeholder="Name, description, author …", key="board_search"
    )
    navigate.keep("search", "board_search", words)
    navigate.follow("by", "board_by", [one.value for one in ORDERS])
    by = RankBy(
        order.selectbox(
            "Ranked by",
            [one.value for one in ORDERS],
            format_func=lambda one: ORDERS[RankBy(one)],
            key="board_by",
        )
    )
    navigate.keep("by", "board_by", by.value, RankBy.AGG_SCORE.value)
    with filters.popover("Filters", icon=":material/filter_list:", width="stretch"):
        names = {name.partition("/")[0] for v in versions for name in _names(v)}
        authors = st.multiselect("Author", sorted(names))
        kinds = st.multiselect("Kind", sorted({v.kind for v in versions}))
        labels = st.multiselect("Label", sorted(label for v in versions for label in _labels(v)))
        runs = st.multiselect("Run", sorted({run for v in versions if (run := run_of(v))}))
        more = st.toggle("Bradley-Terry, Nash mass and alpha-rank", key="board_more")
    wanted = words.lower().split()
    shown = {
        version.digest
        for version in versions
        if (not authors or {name.partition("/")[0] for name in _names(version)} & {*authors})
        and (not kinds or version.kind in kinds)
        and (not labels or set(labels) & set(_labels(version)))
        and (not runs or run_of(version) in runs)
        and all(word in _sought(version) for word in wanted)
    }
    return by, more, shown


def _names(version: PolicyVersion) -> tuple[str, ...]:
    return (version.ref, *version.also)


def _sought(version: PolicyVersion) -> str:
    return f"{' '.join(_names(version))} {version.description}".lower()


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
        if row.rank is None or row.rank_low is None:
            continue
        if not bands or row.rank_low > head:
            head, band = row.rank, band + 1
        bands[row.digest] = band
    return bands


def _headline(game: Game, rows: Sequence[Row], left: int) -> None:
    """How much there is, and how many policies the filters leave."""
    mixed = {one.digest for one in data.field(game).versions if one.kind == "mixture"}
    played = [row for row in rows if row.digest not in mixed]  # its matches are its members'
    matches = sum(row.matches for row in played) // 2
    forfeits = sum(row.forfeits for row in played)
    count = f"{len(rows):,}" if left == len(rows) else f"{left:,} of {len(rows):,}"
    st.caption(f"{count} policies · {matches:,} matches · {forfeits:,} forfeits")


def _unranked(game: Game, by: RankBy, rows: Sequence[Row]) -> None:
    """Says why rows have no rank, and what to do about it."""
    count = sum(row.rank is None for row in rows)
    if not count:
        return
    population = data.population_of(game)
    who = "1 policy is" if count == 1 else f"{count:,} policies are"
    needed = (
        "a rank here takes a match against another policy"
        if by in _OF_ALL_MATCHES
        else f"scores need matches against all {len(population.digests)} members of "
        f"{in_markdown(population.name)}"
    )
    st.info(f"{who} not measured yet: {needed}. Run  `arena play --game {game.name}`")


def _chart(game: Game, by: RankBy, rows: Sequence[Row], bands: Mapping[str, int]) -> None:
    """Scores with intervals, in the colour of their band, beside the paper's methods."""
    if by in _OF_ALL_MATCHES:
        by = RankBy.AGG_SCORE
    scored = [(row, estimate) for row in rows if (estimate := getattr(row, by.value)) is not None]
    if not scored:
        return
    lines = [
        Line(
            f"{_rank(row)}  {short_ref(row.ref)}",
            estimate,
            colours.SERIES[(bands.get(row.digest, 1) - 1) % len(colours.SERIES)],
        )
        for row, estimate in scored[:CHARTED]
    ]
    smallest_first = by is RankBy.POP_EXPL
    near = comparable(lines, smallest_first=smallest_first)
    far = [line for line in lines if line not in near]
    published = sorted(
        (
            Reference(f"{paper.method} (paper)", getattr(paper, by.value).mean)
            for paper in methods(game.name)
        ),
        key=lambda one: one.value,
        reverse=not smallest_first,  # the best of the paper come first, if not all have room
    )
    references = fitting(near, published)
    with st.container(border=True):
        st.markdown(f"**{ORDERS[by]}** with 95 % intervals; rows of one colour share a band")
        st.html(intervals(near, f"{game.unit} a match", references=references))
        if far:
            st.caption(_far_ones(far))
        if references:
            st.caption(_paper(references, len(published)))


def _rank(row: Row) -> str:
    return "-" if row.rank is None else str(row.rank)


def _far_ones(lines: Sequence[Line]) -> str:
    """Names the rows that the chart leaves out."""
    named = [f"{in_markdown(line.label)} {number(line.estimate.value)}" for line in lines[:NAMED]]
    if len(lines) > NAMED:
        named.append(f"{len(lines) - NAMED} more")
    return f"Too far away for this chart: {', '.join(named)}"


def _paper(references: Sequence[Reference], published: int) -> str:
    """The key to the numbers of the dotted lines."""
    ordered = sorted(references, key=lambda one: one.value)
    key = ", ".join(
        f"{place} {in_markdown(one.label.removesuffix(' (paper)'))} {number(one.value)}"
        for place, one in enumerate(ordered, start=1)
    )
    some = "" if len(ordered) == published else f" ({len(ordered)} of {published} have room)"
    return f"Dotted, as published{some}: {key}"


def _frame(
    rows: Sequence[Row],
    bands: Mapping[str, int],
    trends: Mapping[str, Sequence[float]],
    more: bool,
) -> pa.Table:
    """The columns of the table, in the order of their weight: a phone shows the first three."""
    frame = pa.Table.from_pylist([_line(row, bands, trends, more) for row in rows])
    # A column without any value has no type yet, and would not be shown as the others are.
    for place, column in enumerate(frame.schema):
        if pa.types.is_null(column.type):
            kind = pa.string() if column.name in _TEXTS else pa.float64()
            frame = frame.set_column(place, column.name, frame.column(place).cast(kind))
    return frame if any(row.forfeits for row in rows) else frame.drop_columns(["Forfeits"])


def _table(game: Game, by: RankBy, rows: Sequence[Row], frame: pa.Table) -> None:
    """The table, with the column that it is ordered by directly after the policy."""
    first = ["Rank", "Policy", ORDERS[by], f"{ORDERS[by]} 95 %"]
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
    ranked = row.rank_low is not None and row.rank_high is not None
    worst = row.worst and f"{short_ref(row.worst.ref)} {signed(row.worst.mean)}"
    line: dict[str, Any] = {
        "Rank": row.rank,
        "Policy": f"{row.ref} ({also(row.also)})" if row.also else row.ref,
        **_scored("AggScore", row.agg_score),
        **_scored("PopReturn", row.pop_return),
        **_scored("PopExpl", row.pop_expl),
        "Worst opponent": worst,
        "Matches": row.matches,
        "Forfeits": row.forfeits,
        "Could be": _could_be(row) if ranked else None,
        "Band": bands.get(row.digest),
        "Rating": row.trueskill.conservative if row.trueskill else None,
        **_scored("Cross-fitted", row.pop_expl_cross_fitted),
        "Mean return": row.mean_return,
        "Trend": list(trends.get(row.digest, ())),
    }
    if more:
        line |= {
            "Bradley-Terry": row.bradley_terry,
            "Nash mass": row.nash_mass,
            "Alpha-rank": row.alpha_rank,
        }
    return line


_METRICS = ("AggScore", "PopReturn", "PopExpl", "Cross-fitted")
_INTERVALS = tuple(f"{name} 95 %" for name in _METRICS)
_TEXTS = ("Could be", "Worst opponent", *_INTERVALS)


def _scored(name: str, estimate: Estimate | None) -> dict[str, Any]:
    """A metric, and its own interval in the column after it."""
    told = None if estimate is None else interval(estimate)
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
    "Rating": "TrueSkill, conservative (mu - 3 sigma); provisional.",
    "Matches": "Of a mixture: so many of one policy would be as sure as its members' are.",
    "Mean return": f"Mean return {MEAN_RETURN}.",
    "Trend": "Mean return over all its stored matches, whoever it met, after each twelfth of what "
    "the game has stored. A mixture has none: its members play.",
    **dict.fromkeys(_INTERVALS, "The 95 % interval of the score before it."),
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
    "Could be": 104,
    "Band": 52,
    "Rating": 60,
    "Cross-fitted": 92,
    "Mean return": 96,
    "Trend": 76,
}
"""Pixels: in 390 the score stands beside the policy, in 1366 all but the last few do."""


def _columns(frame: pa.Table) -> dict[str, Any]:
    decimals = {"Nash mass": "%.3f", "Alpha-rank": "%.3f", "Bradley-Terry": "%.0f"}
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
        "Policy": st.column_config.TextColumn(pinned=True, width=_WIDTHS["Policy"]),
        "Band": st.column_config.NumberColumn(help=_HELP["Band"], width=_WIDTHS["Band"]),
        "Trend": st.column_config.LineChartColumn(help=_HELP["Trend"], width=_WIDTHS["Trend"]),
    }
