"""Throws of a rock-paper-scissors match as pictures, and what each side did most."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.games.rrps import RRPS
from dashboards import cards
from dashboards.text import in_html, in_markdown

WINDOW = 20
"""Throws that are drawn at once."""

Event = Mapping[str, Any]
SHIFTS = ("the same again", "one up", "one down")
"""What a throw is to the one before; up is towards the throw that beats it."""


def draw(events: Sequence[Event], at: int, names: tuple[str, str]) -> None:
    """The throws from number `at` on, and the habits of both seats."""
    shown = events[at - 1 : at - 1 + WINDOW]
    columns = "".join(
        '<div style="flex:0 0 auto;text-align:center;padding:2px">'
        f'<div style="font-size:.72rem;opacity:.65">{event["throw"]}</div>'
        f"<div>{cards.throw(event['actions'][0])}</div>"
        f"<div>{cards.outcome(event['payoff'])}</div>"
        f"<div>{cards.throw(event['actions'][1])}</div></div>"
        for event in shown
    )
    st.html(
        f'<div style="font-size:.85rem">above: {in_html(names[0])}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:2px;line-height:1">{columns}</div>'
        f'<div style="font-size:.85rem">below: {in_html(names[1])}</div>'
    )
    st.subheader("What each side did", anchor=False)
    for seat, column in enumerate(st.columns(2)):
        with column:
            st.markdown(f"**Seat {seat}**, {in_markdown(names[seat])}")
            st.dataframe(
                pa.Table.from_pylist(habits(events, seat)),
                hide_index=True,
                column_config={
                    "Share": st.column_config.ProgressColumn(
                        format="%.0f %%", min_value=0.0, max_value=100.0
                    )
                },
            )


def habits(events: Sequence[Event], seat: int) -> list[dict[str, object]]:
    """How often a seat threw what, and what it did after winning, drawing and losing.

    Returns:
      Lines with `What`, `Times` and `Share` (in percent of the occasions for it).
    """
    thrown = [event["actions"][seat] for event in events]
    lines: list[dict[str, object]] = [
        {"What": name, "Times": count, "Share": 100.0 * count / len(thrown)}
        for name, count in ((name, thrown.count(name)) for name in RRPS.actions)
    ]
    sign = 1 if seat == 0 else -1
    after: Counter[tuple[int, int]] = Counter()
    for before, now in itertools.pairwise(events):
        shift = (
            RRPS.actions.index(now["actions"][seat]) - RRPS.actions.index(before["actions"][seat])
        ) % 3
        after[before["payoff"] * sign, shift] += 1
    for payoff, occasion in ((1, "a win"), (0, "a draw"), (-1, "a loss")):
        total = sum(after[payoff, shift] for shift in range(3))
        if not total:
            continue
        shift = max(range(3), key=lambda one: after[payoff, one])
        lines.append(
            {
                "What": f"after {occasion}: {SHIFTS[shift]}",
                "Times": after[payoff, shift],
                "Share": 100.0 * after[payoff, shift] / total,
            }
        )
    return lines
