"""What a policy did wrong: its forfeits by error, and where each error can be watched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import streamlit as st

from arena.figures.text import signed
from arena.games.protocol import Game
from arena.store.values import MatchRow
from arena.values import Termination
from dashboards import known, navigate
from dashboards.text import in_markdown
from registry import shown
from registry.values import PolicyVersion

READ = 2_000
"""Forfeits of a policy's matches that are looked at, the newest."""
LINKED = 12
"""Matches that are offered to see one error."""

_FRAME = re.compile(r'  File "<policy>", line (\d+)\b')
_TRACEBACK = "Traceback (most recent call last):"


@dataclass(frozen=True, slots=True)
class Failure:
    """Equal faults: the same end, the same error, the same line.

    Attributes:
      what: why the matches ended.
      error: the line of the message that names the error; written by strangers.
      line: of the policy's source, None where the message tells none.
      rows: the matches, the newest first.
    """

    what: Termination
    error: str
    line: int | None
    rows: tuple[MatchRow, ...]


def error_of(message: str) -> tuple[str, int | None]:
    """What a fault's message comes down to.

    Returns:
      For a traceback, the exception below its calls, and the line of the policy that raised it;
      for any other message its first line, and None.
    """
    lines = [line for line in message.splitlines() if line.strip()]
    if not lines or lines[0] != _TRACEBACK:
        return (lines[0].strip() if lines else "", None)
    frames = [(place, found) for place, line in enumerate(lines) if (found := _FRAME.match(line))]
    if not frames:
        return (lines[-1].strip(), None)
    place, found = frames[-1]
    # Calls, and the source that they quote, are indented; the exception is not.
    below = [line for line in lines[place + 1 :] if not line.startswith(" ")]
    return ((below[0] if below else lines[-1]).strip(), int(found[1]))


def grouped(rows: Iterable[MatchRow]) -> list[Failure]:
    """Forfeits by error, the most frequent first; `rows` come newest first."""
    found: dict[tuple[Termination, str, int | None], list[MatchRow]] = {}
    for row in rows:
        found.setdefault((row.termination, *error_of(row.fault_message)), []).append(row)
    failures = [Failure(*key, tuple(several)) for key, several in found.items()]
    return sorted(failures, key=lambda failure: -len(failure.rows))


@st.fragment
def faults(game: Game, version: PolicyVersion) -> None:
    """Draws the errors, and below them the one that is selected."""
    rows = known.newest(game, READ, version.digest, faults_only=True)
    mine = [row for row in known.matches(rows) if version.digest == row.seats[row.fault_seat or 0]]
    if not mine:
        st.success("It has forfeited no match.", icon=":material/check:")
        return
    failures = grouped(mine)
    among = "The newest" if len(rows) == READ else "All"
    st.caption(f"{among} {len(mine):,} forfeits, by error. Select one to see the message.")
    event = st.dataframe(
        pa.table(
            {
                "Times": [len(one.rows) for one in failures],
                "Message": [shown(one.error) or "(no message)" for one in failures],
                "Line": [one.line for one in failures],
                "What": [one.what.value for one in failures],
                "Last stored (UTC)": [one.rows[0].played_at for one in failures],
            }
        ),
        hide_index=True,
        placeholder="-",
        on_select="rerun",
        selection_mode="single-row-required",
        key=f"faults_{version.digest}",
        column_config={
            "Times": st.column_config.NumberColumn(width=64),
            "Message": st.column_config.TextColumn(width="large"),
            "Line": st.column_config.NumberColumn(help="Of the policy's source.", width=64),
        },
    )
    # New matches may have changed the rows since one was selected.
    chosen = event.selection.rows[0] if event.selection.rows else 0
    failure = failures[min(chosen, len(failures) - 1)]
    called = known.names(sorted({digest for row in failure.rows for digest in row.seats}), game)
    _failure(game, failure, called)


def _failure(game: Game, failure: Failure, called: Mapping[str, str]) -> None:
    """One error in full, and links to matches that it ended."""
    newest = failure.rows[0]
    st.code(shown(newest.fault_message) or "(no message)", language=None, wrap_lines=True)
    linked = failure.rows[:LINKED]
    many = "" if len(linked) == len(failure.rows) else f", the newest {len(linked)}"
    st.caption(f"Matches that ended so{many}; each link opens its replay at the fault:")
    with st.container(horizontal=True):
        for row in linked:
            seat = row.fault_seat or 0
            link = navigate.address("replay", game=game.name, match=row.id)
            told = f"{called[row.seats[1 - seat]]} ({signed(row.returns[seat], 0)})"
            st.markdown(f"[{in_markdown(told)}]({link})", width="content")
