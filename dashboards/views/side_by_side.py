"""Two texts side by side, with what changed from one to the other."""

from __future__ import annotations

import re

import streamlit as st

from arena.figures import colours
from arena.figures.templates import fill
from arena.source_check import difference
from registry import shown

_WHOLE = 1_000_000
"""Lines around a change: all of them."""
_REMEMBERED_SECONDS = 600.0
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")

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
    st.html(
        fill(
            "dashboards/views/side_by_side.j2",
            "table",
            names=names,
            rows=[
                (_cell(one, colours.LOSS, differs), _cell(other, colours.GAIN, differs))
                for one, other, differs in rows
            ],
            height=height,
        )
    )
    st.caption(f"{differing:,} of {len(rows):,} lines differ; they are marked.")


def _cell(line: Line, colour: str, differs: bool) -> tuple[str, str, str]:
    """Number and text of a line, and its colour; all are "" where there is none."""
    return ("", "", "") if line is None else (str(line[0]), line[1], colour if differs else "")
