"""Hands of a Leduc match as cards and chips, and what each side did most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from dashboards import cards, theme
from dashboards.charts.score import CROSS, Forfeit
from dashboards.text import in_html, in_markdown

Event = Mapping[str, Any]
ROUNDS = ("preflop", "postflop")
_COLOURS = (theme.GAIN, theme.LOSS)


def draw(
    events: Sequence[Event], at: int, names: tuple[str, str], forfeit: Forfeit | None = None
) -> None:
    """Hand number `at`, the list of all hands, and the habits of both seats.

    Args:
      events: hands that were begun, as `Leduc.account` tells them.
      at: number of a hand, from 1; or of the one that was forfeited.
      names: of the policies in seats 0 and 1.
      forfeit: where there was one.
    """
    if forfeit and at == forfeit.step:
        st.html(
            f"<div><b>{CROSS} hand {at}</b>: seat {forfeit.seat}, {in_html(names[forfeit.seat])}, "
            f"{in_html(forfeit.why)}, and lost the rest of the match</div>"
        )
    if at <= len(events):
        st.html(picture(events[at - 1], names))
    else:
        st.caption("Nobody had acted in this hand yet.")
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
                    name: st.column_config.NumberColumn(format="%.0f %%")
                    for name in ("FOLD", "CALL", "RAISE")
                },
            )
    with st.expander("All hands", icon=":material/list:"):
        st.dataframe(pa.Table.from_pylist([_line(event) for event in events]), hide_index=True)


def picture(event: Event, names: tuple[str, str]) -> str:
    """One hand: cards, the public card, both stakes and the betting, as HTML."""
    stakes = cards.paid(event["betting"])
    sides = []
    for seat in (0, 1):
        role = "deals" if event["dealer"] == seat else "first to act"
        sides.append(
            '<div style="display:flex;align-items:flex-end;gap:12px;flex-wrap:wrap">'
            f"{cards.card(event['cards'][seat])}{cards.chips(stakes[seat], _COLOURS[seat])}"
            f'<b style="padding-bottom:6px">{stakes[seat]}</b>'
            f'<div style="padding-bottom:8px"><b style="color:{_COLOURS[seat]}">seat {seat}</b> '
            f"{in_html(names[seat])}<br><small>{role}</small></div></div>"
        )
    public = event["public_card"]
    shown = cards.card(public)
    result = (
        f"<b>hand {event['hand']}</b>: {event['outcome'].lower()}, pot {event['pot']}, "
        f"seat 0 {event['payoff']:+d}, so far {event['total']:+d}"
    )
    return (
        '<div style="display:flex;flex-direction:column;gap:12px">'
        f"<div>{result}</div>{sides[0]}"
        '<div style="display:flex;align-items:center;gap:14px;flex-wrap:wrap">'
        f"{shown}<div>{_betting(event)}</div></div>{sides[1]}</div>"
    )


def _betting(event: Event) -> str:
    lines = []
    for name, actions in zip(ROUNDS, event["betting"], strict=True):
        pills = " ".join(
            f'<span style="background:{_COLOURS[seat]};color:#fff;border-radius:9px;'
            f'padding:1px 9px;font-size:.82rem">{seat} {action.lower()}</span>'
            for seat, action in actions
        )
        if actions:
            lines.append(f'<div style="margin:3px 0"><small>{name}</small> {pills}</div>')
    return "".join(lines)


def habits(events: Sequence[Event], seat: int) -> list[dict[str, object]]:
    """Shares (in percent) of a seat's actions by round and by what it held.

    A pair is a card that equals the public one.
    """
    counts: dict[tuple[str, str], Counter[str]] = {}
    for event in events:
        held = event["cards"][seat]
        for name, actions in zip(ROUNDS, event["betting"], strict=True):
            holding = "pair" if name == "postflop" and held == event["public_card"] else held
            counts.setdefault((name, holding), Counter()).update(
                action for who, action in actions if who == seat
            )
    order = {"pair": 0, "K": 1, "Q": 2, "J": 3}
    lines: list[dict[str, object]] = []
    for name, holding in sorted(counts, key=lambda key: (ROUNDS.index(key[0]), order[key[1]])):
        found = counts[name, holding]
        total = found.total()
        if total:
            shares = {action: 100.0 * found[action] / total for action in ("FOLD", "CALL", "RAISE")}
            lines.append({"Round": name, "Holding": holding, "Acts": total} | shares)
    return lines


def _line(event: Event) -> dict[str, object]:
    first, second = (
        " ".join(f"{seat}{action[0].lower()}" for seat, action in actions)
        for actions in event["betting"]
    )
    return {
        "Hand": event["hand"],
        "Seat 0": event["cards"][0],
        "Seat 1": event["cards"][1],
        "Public": event["public_card"] or "",
        "Preflop": first,
        "Postflop": second,
        "Pot": event["pot"],
        "End": event["outcome"].lower(),
        "Seat 0 won": event["payoff"],
        "So far": event["total"],
    }
