"""Who wins how much against whom."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from arena.analysis.metrics import evaluate, payoff_intervals
from arena.analysis.stakes import stakes_of
from arena.figures.heatmap import MOST_LABELS, Shades, clustered, payoff_heatmap
from arena.figures.text import labelled, signed
from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from dashboards import data, known, links, navigate, theme
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.tiles import tiles
from dashboards.views.watching import matches_to_watch

ORDERS = ("AggScore", "Rating", "Mean return", "Cluster", "Name")
WIDE = "wide"
SHADES = {WIDE: "Colours for all payoffs", "fine": "Colours that tell the strong apart"}
SIZES = (20, 50, 100, 200, 400)
"""How many policies can be drawn, besides all."""
SHOWN = 20
"""Matches of a pair that the panel lists."""


def show(game: Game) -> None:
    """Draws the page."""
    st.caption(
        f"{in_markdown(game.title)}: mean return of row against column, in {game.unit} a match. "
        "Blue won, orange lost, striped no matches; columns are in the order of the rows."
    )
    rows = data.board(game)
    if not any(row.matches for row in rows):
        command = in_code(typed(f"arena play --game {game.name}"))
        st.info(f"Nobody has met yet. Play a round robin:  {command}")
        return
    order, most, download = st.columns([4, 3, 2], vertical_alignment="bottom")
    by = navigate.one_of("Ordered by", ORDERS, "by", "payoffs_by", "order", at=order, wrap=True)
    chosen = _chosen(game, [row.ref for row in rows])
    rows = tuple(row for row in rows if not chosen or row.ref in chosen)
    sizes = [size for size in SIZES if size < len(rows)] + [len(rows)]
    usual, key = sizes[min(1, len(sizes) - 1)], f"payoffs_most_{game.name}_{len(rows)}"
    navigate.follow("most", key, [str(size) for size in sizes])
    if st.session_state.get(key) not in [str(size) for size in sizes]:
        st.session_state[key] = str(usual)
    count = len(rows)
    if len(sizes) > 1:
        count = int(most.select_slider("Policies", [str(size) for size in sizes], key=key))
    navigate.keep("most", key, str(count), str(usual))
    best = [row.digest for row in rows[:count]]
    whole, refs = data.payoffs(game), data.field(game).refs
    table = whole.restrict(best)
    ratings = {row.digest: row.trueskill.conservative for row in rows if row.trueskill}
    places = _order(str(by), table, refs, ratings)
    table = table.restrict([table.digests[place] for place in places])
    names = [refs[digest] for digest in table.digests]
    download.download_button(
        "CSV",
        lambda: as_csv(whole.restrict([row.digest for row in rows]).named(refs)),
        file_name=f"payoffs-{game.name}.csv",
        mime="text/csv",
        icon=":material/download:",
        width="stretch",
        on_click="ignore",
        help="A row for each pair of all policies, or of those chosen, with errors and counts.",
    )
    if len(best) < len(rows):
        st.caption(f"The {len(best):,} best of {len(rows):,} by AggScore are drawn.")
    _map_and_pair(game, table, names, _shades(whole, [row.digest for row in rows]))


def _chosen(game: Game, refs: Sequence[str]) -> list[str]:
    """The policies that the page is narrowed to; empty for all."""
    key = f"payoffs_only_{game.name}"
    navigate.follow_all("only", key, refs, "policy")
    chosen = st.multiselect(
        "Only these policies", refs, key=key, placeholder="All; choose two or more to narrow down"
    )
    navigate.keep_all("only", key, chosen)
    return chosen if len(chosen) > 1 else []


def _shades(whole: PayoffTable, ranked: Sequence[str]) -> Shades | None:
    """How strong the colours are: None for those of all payoffs, else for the strongest.

    Args:
      whole: all payoffs.
      ranked: the policies that are shown, the best first.
    """
    chosen = navigate.one_of(
        "Colours",
        list(SHADES),
        "colours",
        "payoffs_colours",
        format_func=SHADES.__getitem__,
        label_visibility="collapsed",
    )
    if chosen == WIDE:
        return None
    table = whole.restrict(ranked[: max(len(ranked) // 3, 3)])
    return Shades.fine(np.where(table.count > 0, table.mean, np.nan))


def _height(n: int) -> int:
    return int(min(max(13 * min(n, MOST_LABELS), 200), 640))


def _order(
    by: str, table: PayoffTable, refs: Mapping[str, str], ratings: Mapping[str, float]
) -> list[int]:
    """Places of the table's policies; they come in the order of AggScore."""
    places = list(range(len(table.digests)))
    match by:
        case "Rating":
            return sorted(places, key=lambda place: -ratings.get(table.digests[place], -math.inf))
        case "Mean return":
            # The diagonal is 0 in every row, and only scales the mean.
            means = np.nan_to_num(table.mean, nan=0.0).mean(axis=1)
            return [int(place) for place in np.argsort(-means, kind="stable")]
        case "Cluster":
            return clustered(table)
        case "Name":
            return sorted(places, key=lambda place: refs[table.digests[place]].lower())
    return places


def as_csv(table: PayoffTable) -> bytes:
    """What the button gives: a table as `arena payoffs --csv` writes it."""
    buffer = io.BytesIO()
    table.to_csv(buffer)
    return buffer.getvalue()


@st.fragment
def _map_and_pair(
    game: Game, table: PayoffTable, names: Sequence[str], shades: Shades | None
) -> None:
    """The heat map, and below it the pair that was clicked there or chosen by name."""
    keys = (f"versus_one_{game.name}", f"versus_other_{game.name}")

    def choose(row: int, column: int) -> None:
        if row != column:
            st.session_state[keys[0]], st.session_state[keys[1]] = names[row], names[column]

    pointed(
        payoff_heatmap(
            table,
            names,
            game.unit,
            height=_height(len(names)),
            dark=theme.is_dark(),
            shades=shades,
            ends=payoff_intervals(table, stakes_of(game)),
        ),
        key="payoffs_map",
        on_pick=choose,
    )
    st.header("Head to head", anchor=False)
    if len(names) < 2:
        st.info("Two policies are needed; submit another one.")
        return
    st.caption("Click a cell above, or choose by name.")
    left, right = st.columns(2)
    navigate.follow("policy", keys[0], names, "policy")
    one = left.selectbox("Policy", names, key=keys[0])
    others = [name for name in names if name != one]
    met = [name for name in others if table.count[names.index(one), names.index(name)]]
    navigate.follow("against", keys[1], others, "opponent")
    if st.session_state.get(keys[1]) not in others:
        st.session_state[keys[1]] = (met or others)[0]
    other = right.selectbox("Against", others, key=keys[1])
    navigate.keep("policy", keys[0], one, names[0])
    navigate.keep("against", keys[1], other, (met or others)[0])
    st.markdown(" against ".join(links.named(game, ref) for ref in (one, other)))
    a, b = names.index(one), names.index(other)
    matches = int(table.count[a, b])
    if not matches:
        command = in_code(typed(f"arena play --game {game.name} --only {one}"))
        st.info(f"They never met. Play them:  {command}")
        return
    pair = (table.digests[a], table.digests[b])
    (result,) = evaluate(table, pair[0], pair[1:], stakes_of(game)).per_opponent
    assert result.payoff is not None  # they met
    tiles(
        {
            "Mean return": signed(result.payoff.value),
            "Won, drawn, lost": f"{result.wins}, {result.draws}, {result.losses}",
            "Matches": f"{matches:,}",
            "Forfeits": f"{result.forfeits} : {result.opponent_forfeits}",
        },
        {"Mean return": labelled(result.payoff)},
    )
    _matches(game, *pair, f"{one} {other}")


def _matches(game: Game, one: str, other: str, key: str) -> None:
    found = known.newest(game, SHOWN, one, other)
    if not found:
        st.caption("Members of a mixture played these matches; the mixture's page lists them.")
        return
    st.caption(f"Their latest {len(found)} matches; select one to watch it.")
    columns = {
        "Return": [row.return_low if row.match.low == one else -row.return_low for row in found],
        "End": [row.termination.value for row in found],
        "Behind": [row.wall for row in found],
    }
    matches_to_watch(game, found, columns, key=f"versus_{key}")
