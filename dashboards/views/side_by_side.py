"""Two texts side by side, with what changed from one to the other."""

from __future__ import annotations

import re

import streamlit as st

from arena.figures import colours
from arena.figures.text import in_html
from arena.source_check import difference
from registry import shown

_WHOLE = 1_000_000
"""Lines around a change: all of them."""
_REMEMBERED_SECONDS = 600.0
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_CELL = "padding:0 .5rem;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top"
_NUMBER = "padding:0 .4rem;text-align:right;opacity:.75;vertical-align:top;user-select:none"

Line = tuple[int, str] | None
"""A line with its number; None where the other text alone has one."""


def paired(changes: str) -> list[tuple[Line, Line, bool]]:
    """The rows of both columns, from a difference in the unified format.

    Returns:
      For each row the line before, the line after, and whether they differ.
    """
    rows: list[tuple[Line, Line, bool]] = []
    removed: list[tuple[int, str]] = []
    added: list[tuple[int, str]] = []

    def flush() -> None:
        for place in range(max(len(removed), len(added))):
            one = removed[place] if place < len(removed) else None
            other = added[place] if place < len(added) else None
            rows.append((one, other, True))
        removed.clear()
        added.clear()

    left = right = 0
    lines = changes.split("\n")
    for line in lines[2:]:  # below the two names
        hunk = _HUNK.match(line)
        if hunk:
            flush()
            left, right = int(hunk[1]), int(hunk[2])
        elif line.startswith("-"):
            removed.append((left, line[1:]))
            left += 1
        elif line.startswith("+"):
            added.append((right, line[1:]))
            right += 1
        else:
            flush()
            rows.append(((left, line[1:]), (right, line[1:]), False))
            left, right = left + 1, right + 1
    flush()
    return rows


@st.cache_resource(max_entries=64, ttl=_REMEMBERED_SECONDS, show_spinner=False)
def _changes(before: str, after: str, names: tuple[str, str]) -> str | None:
    """A child finds it out, which takes long for what is drawn again at each click."""
    return difference(before, after, names, context=_WHOLE)


def side_by_side(before: str, after: str, names: tuple[str, str], *, height: int = 560) -> None:
    """Draws both texts, aligned, with differing lines marked.

    Args:
      before: a text that somebody wrote.
      after: another.
      names: of both.
      height: of what can be scrolled, in pixels.
    """
    if before == after:
        st.info("They are the same, character by character.")
        return
    changes = _changes(shown(before), shown(after), names)
    if changes is None:
        st.info("They differ in too many places to be compared line by line.")
        return
    if not changes:
        st.info("All lines are the same: the end of the last one differs, or the kind of a space.")
        return
    rows = paired(changes)
    differing = sum(differs for _, _, differs in rows)
    body = "".join(
        f"<tr>{_cells(one, colours.LOSS, differs)}{_cells(other, colours.GAIN, differs)}</tr>"
        for one, other, differs in rows
    )
    heads = "".join(
        f'<th colspan="2" scope="col" style="text-align:left;padding:.2rem .5rem">'
        f"{in_html(shown(name))}</th>"
        for name in names
    )
    st.html(
        f'<div tabindex="0" role="region" aria-label="Two programs side by side" '
        f'style="max-height:{height}px;overflow:auto">'
        '<table style="width:100%;min-width:44rem;table-layout:fixed;border-collapse:collapse;'
        'font-family:monospace;font-size:.8rem;line-height:1.35">'
        '<colgroup><col style="width:3rem"><col><col style="width:3rem"><col></colgroup>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    st.caption(f"{differing:,} of {len(rows):,} lines differ; they are marked.")


def _cells(line: Line, colour: str, differs: bool) -> str:
    number, text = ("", "") if line is None else (str(line[0]), in_html(line[1]))
    ground = f";background:color-mix(in srgb,{colour} 22%,transparent)" if differs else ""
    return (
        f'<td style="{_NUMBER}">{number}</td>'
        f'<td style="{_CELL}{ground if line is not None else ""}">{text}</td>'
    )
