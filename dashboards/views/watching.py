"""Lists of matches, each of which can be watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import streamlit as st

from arena.games.protocol import Game
from arena.store.values import MatchRow
from arena.values import short
from dashboards import links, navigate

LINKED = ("Seat 0", "Seat 1", "Against", "Played by")
"""Titles of columns of `links`."""


def matches_to_watch(
    game: Game, found: Sequence[MatchRow], columns: Mapping[str, object], *, key: str
) -> None:
    """A table of matches; selecting one leaves for its replay.

    Args:
      game: what was played.
      found: the matches, in the order of the rows.
      columns: title to the sequence of the rows' values; titles of returns begin with "Return".
        Id and time of the matches follow them.
      key: of the table on its page.
    """
    whole = {
        **columns,
        "Match": [short(row.id) for row in found],
        "Stored (UTC)": [row.played_at for row in found],
    }
    returns = [title for title in columns if title.startswith("Return")]
    event = st.dataframe(
        pa.table(whole),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=key,
        column_config={title: st.column_config.NumberColumn(format="%+.0f") for title in returns}
        | {title: links.column() for title in LINKED if title in columns},
    )
    if event.selection.rows:
        navigate.go("replay", game=game.name, match=found[event.selection.rows[0]].id)
