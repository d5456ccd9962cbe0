"""Throws of a rock-paper-scissors match as pictures, and what each side did most."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.games.rrps import RRPS
from dashboards import cards, theme
from dashboards.charts.score import CROSS, Forfeit
from dashboards.text import in_html, in_markdown

WINDOW = 20
"""Throws that are drawn at once."""

Event = Mapping[str, Any]
SHIFTS = ("the same again", "one up", "one down")
"""What a throw is to the one before; up is towards the throw that beats it."""


def draw(
    events: Sequence[Event], at: int, names: tuple[str, str], forfeit: Forfeit | None = None
) -> None:
    """The throws around number `at`, the fault if it is among them, and the habits of both seats.

    Args:
      events: throws that were completed, as `RRPS.account` tells them.
      at: number of a throw, from 1; or of the one that was forfeited.
      names: of the policies in seats 0 and 1.
      forfeit: where there was one.
    """
    st.html(
        f'<div style="font-size:.85rem">above: {in_html(names[0])}</div>'
        '<div style="display:flex;flex-wrap:wrap;gap:2px;line-height:1">'
        f"{strip(events, at, forfeit)}</div>"
        f'<div style="font-size:.85rem">below: {in_html(names[1])}</div>'
    )
    if not events:
        return
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


def strip(events: Sequence[Event], at: int, forfeit: Forfeit | None) -> str:
    """`WINDOW` throws as HTML, from number `at` on; near the end of the match, its last ones."""
    cells = [
        (cards.throw(one), cards.outcome(event["payoff"]), cards.throw(two))
        for event in events
        for one, two in [event["actions"]]
    ]
    if forfeit and forfeit.step > len(events):
        cross = _cell(CROSS, f"seat {forfeit.seat}: {forfeit.why}")
        unknown = _cell("?", "a throw that did not count")
        lost = cards.outcome(1 if forfeit.seat == 1 else -1)
        cells.append((cross, lost, unknown) if forfeit.seat == 0 else (unknown, lost, cross))
    first = max(min(at, len(cells) - WINDOW + 1), 1)
    marked = f"background:color-mix(in srgb, {theme.PINK} 28%, transparent);border-radius:4px;"
    return "".join(
        f'<div style="{marked if number == at else ""}flex:0 0 auto;text-align:center;padding:2px">'
        f'<div style="font-size:.72rem;opacity:.65">{number}</div>'
        + "".join(f"<div>{part}</div>" for part in cell)
        + "</div>"
        for number, cell in enumerate(cells[first - 1 : first - 1 + WINDOW], first)
    )


def _cell(glyph: str, told: str) -> str:
    """A glyph that takes the place of a throw's picture."""
    return (
        f'<span title="{in_html(told)}" style="display:inline-flex;width:34px;height:34px;'
        f'align-items:center;justify-content:center;font-weight:700">{glyph}</span>'
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
