"""Who is how good, how surely, and against whom not."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st

from arena.analysis.leaderboard import Row
from arena.analysis.rankings import NASH_RULE, RankBy
from arena.figures import colours
from arena.figures.intervals import Line, Reference, comparable, fitting, interval_plot
from arena.figures.text import number, short_ref
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.standings import MEAN_RETURN
from dashboards import data, navigate
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.views import board_table, playing
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
    began, stamp = time.monotonic(), data.fingerprint(game)
    population = default_population(game.name)
    st.caption(
        f"{in_markdown(game.title)}: {game.unit} a match, measured on the frozen population "
        f"{in_markdown(population.name)}. Tick a row to open its policy; a name opens it in a tab "
        "of its own."
    )
    by, more, shown = _controls(game)
    rows = data.board(game, by.value, more)
    bands = bands_of(rows)
    if by is RankBy.RATING and not data.ratings(game).serial:
        st.info("Ratings are being computed; until then the order is by AggScore.")
        by = RankBy.AGG_SCORE
    left = [row for row in rows if row.digest in shown]
    _headline(game, rows, len(left))
    here = st.container()
    if left:
        _standings(game, by, left, bands, more)
    else:
        st.info("No policy fits these filters. Clear the search, or choose fewer filters.")
    with here:
        playing.follow(game, stamp, began)


def _standings(
    game: Game, by: RankBy, left: Sequence[Row], bands: Mapping[str, int], more: bool
) -> None:
    """The rows that the filters leave, as a table and as a chart."""
    _unranked(game, by, left)
    board_table.draw(game, ORDERS[by], left, board_table.Besides(bands, data.trends(game), more))
    st.caption(
        f"Mean return: {MEAN_RETURN}. Trend: over all its stored matches, whoever it met, after "
        "each twelfth of them."
    )
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
    navigate.follow("by", "board_by", [one.value for one in ORDERS], "order")
    by = RankBy(
        order.selectbox(
            "Ranked by",
            [one.value for one in ORDERS],
            format_func=lambda one: ORDERS[RankBy(one)],
            key="board_by",
        )
    )
    navigate.keep("by", "board_by", by.value, RankBy.AGG_SCORE.value)
    choices: dict[str, Collection[str]] = {
        "Author": {name.partition("/")[0] for v in versions for name in _names(v)},
        "Kind": {v.kind for v in versions},
        "Label": {label for v in versions for label in _labels(v)},
        "Run": {run for v in versions if (run := run_of(v))},
    }
    for title, options in choices.items():  # out here, where it is seen what they do not know
        navigate.follow_all(title.lower(), _key(title), options, title.lower())
    with filters.popover("Filters", icon=":material/filter_list:", width="stretch"):
        authors, kinds, labels, runs = (_some_of(*one) for one in choices.items())
        more = navigate.switched("Bradley-Terry, Nash mass and alpha-rank", "more", "board_more")
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


def _some_of(title: str, options: Collection[str]) -> list[str]:
    """A filter whose choice the address keeps."""
    chosen = st.multiselect(title, sorted(options), key=_key(title))
    navigate.keep_all(title.lower(), _key(title), chosen)
    return chosen


def _key(title: str) -> str:
    return f"board_{title.lower()}"


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
    st.caption(
        f"{count} policies · {matches:,} matches · {forfeits:,} forfeits · as of "
        f"{datetime.now(UTC):%H:%M:%S} UTC"
    )


def _unranked(game: Game, by: RankBy, rows: Sequence[Row]) -> None:
    """Says why rows have no rank, and what to do about it."""
    count = sum(row.rank is None for row in rows)
    if not count:
        return
    population = default_population(game.name)
    who = "1 policy is" if count == 1 else f"{count:,} policies are"
    needed = (
        "a rank here takes a match against another policy"
        if by in _OF_ALL_MATCHES
        else f"scores need matches against all {len(population.digests)} members of "
        f"{in_markdown(population.name)}"
    )
    command = in_code(typed(f"arena play --game {game.name}"))
    st.info(f"{who} not measured yet: {needed}. Run  {command}")


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
        pointed(
            interval_plot(near, f"{ORDERS[by]}, {game.unit} a match", references=references),
            key="board_chart",
        )
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
