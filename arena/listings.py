"""Lists that an arena answers with: tuples that show as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from arena.printed import GAP, WIDTH, Aside, Cell, Printed, Sheet, table_of, wider
from registry.values import PolicyVersion, Season, StatusChange

if TYPE_CHECKING:
    import pyarrow as pa

    from arena.practice import PracticeMatch
    from arena.store import MatchRow

_DESCRIPTION = 72
"""Characters of a description that a sheet shows, at most."""
_LEAST = 16
"""And at least: less says nothing, and a screen that has no room for it is shown none."""
_OTHERS = 2
"""Further names of a version that a line has room for."""


def also(refs: Sequence[str]) -> str:
    """Further names of a version in words; "" for none."""
    if not refs:
        return ""
    more = len(refs) - _OTHERS
    return f"also {', '.join(refs[:_OTHERS])}" + (f" and {more} more" if more > 0 else "")


def _beginning(text: str, most: int = _DESCRIPTION) -> str:
    """As much of a description as a sheet shows; what is left out leaves dots."""
    return text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


def _sheet(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Sheet:
    return Sheet("", dict.fromkeys(columns, "left"), tuple(map(tuple, rows)))


class Policies(tuple[PolicyVersion, ...], Printed):
    """Versions of the registry."""

    def sheet(self, width: int = WIDTH) -> Sheet:
        """One line for each version; descriptions have what room is left."""
        columns: list[str] = ["policy", "game", "kind", "status", "digest"]
        rows: list[list[Cell]] = [
            [
                Aside(one.ref, also(one.also)) if one.also else one.ref,
                one.game,
                one.kind,
                one.status.value,
                one.digest[:12],
            ]
            for one in self
        ]
        room = width - _sheet(columns, rows).taken() - GAP
        note, title = f"{len(self)} policies", "description"
        if room < _LEAST:
            return replace(_sheet(columns, rows), note=f"{note}\n{wider([title])}")
        most = min(room, _DESCRIPTION)
        for row, one in zip(rows, self, strict=True):
            row.append(_beginning(one.description.partition("\n")[0], most))
        return replace(_sheet([*columns, title], rows), note=note)

    def to_arrow(self) -> pa.Table:
        """One row for each version, without its payload."""
        return table_of(
            self,
            {
                "policy": lambda one: one.ref,
                "also": lambda one: list(one.also),
                "game": lambda one: one.game,
                "kind": lambda one: one.kind,
                "status": lambda one: one.status.value,
                "status_reason": lambda one: one.status_reason,
                "digest": lambda one: one.digest,
                "code_digest": lambda one: one.code_digest,
                "description": lambda one: one.description,
                "created": lambda one: one.created,
            },
        )


class Matches(tuple["MatchRow", ...], Printed):
    """Stored matches without their moves.

    Args:
      rows: the matches.
      refs: what their policies are called, by digest.
    """

    refs: Mapping[str, str]

    def __new__(cls, rows: Iterable[MatchRow], refs: Mapping[str, str]) -> Matches:
        made = super().__new__(cls, rows)
        made.refs = dict(refs)
        return made

    def __getnewargs__(self) -> tuple[tuple[MatchRow, ...], Mapping[str, str]]:
        """What a copy is made from: processes and caches pass lists on."""
        return (tuple(self), self.refs)

    def sheet(self, width: int = WIDTH) -> Sheet:
        """One line for each match; without its wall where a name would be broken."""
        rows = [
            (
                one.id[:12],
                *(self.refs[digest] for digest in one.seats),
                " ".join(f"{value:+.0f}" for value in one.returns),
                one.termination.value
                + ("" if one.fault_seat is None else f" (seat {one.fault_seat})"),
                one.wall,
            )
            for one in self
        ]
        columns = ("match", "seat 0", "seat 1", "returns", "end", "wall")
        whole = _sheet(columns, rows)
        if whole.taken() <= width:
            return whole
        return replace(_sheet(columns[:-1], (row[:-1] for row in rows)), note=wider(columns[-1:]))

    def to_arrow(self) -> pa.Table:
        """One row for each match; `seat_0` and `seat_1` are references, returns are by seat."""
        return table_of(
            self,
            {
                "match": lambda one: one.id,
                "game": lambda one: one.match.game,
                "repetition": lambda one: one.match.repetition,
                "seat_0": lambda one: self.refs[one.seats[0]],
                "seat_1": lambda one: self.refs[one.seats[1]],
                "return_0": lambda one: one.returns[0],
                "return_1": lambda one: one.returns[1],
                "termination": lambda one: one.termination.value,
                "fault_seat": lambda one: one.fault_seat,
                "fault_message": lambda one: one.fault_message,
                "wall": lambda one: one.wall,
                "seconds": lambda one: one.seconds,
                "season": lambda one: one.season,
                "played_at": lambda one: one.played_at,
            },
        )


class Practice(tuple["PracticeMatch", ...], Printed):
    """Practice matches of one policy."""

    def sheet(self, width: int = WIDTH) -> Sheet:
        """One line for each match."""
        rows = [
            (
                one.opponent,
                str(one.seat),
                f"{one.value:+.0f}",
                one.result.termination.value,
                _beginning(one.printed.partition("\n")[0]),
            )
            for one in self
        ]
        columns = ("against", "in seat", "return", "end", "printed")
        return Sheet("", dict.fromkeys(columns, "left"), tuple(rows))

    def to_arrow(self) -> pa.Table:
        """One row for each match, without what was played in it."""
        return table_of(
            self,
            {
                "opponent": lambda one: one.opponent,
                "seat": lambda one: one.seat,
                "return": lambda one: one.value,
                "termination": lambda one: one.result.termination.value,
                "fault_seat": lambda one: one.result.fault_seat,
                "fault_message": lambda one: one.result.fault_message,
                "printed": lambda one: one.printed,
            },
        )


class History(tuple[StatusChange, ...], Printed):
    """Every status that a policy had."""

    def sheet(self, width: int = WIDTH) -> Sheet:
        """One line for each change."""
        rows = [
            (f"{one.changed:%Y-%m-%d %H:%M}", one.ref, one.status.value, _beginning(one.reason))
            for one in self
        ]
        columns = ("since (UTC)", "policy", "status", "reason")
        return Sheet("", dict.fromkeys(columns, "left"), tuple(rows))

    def to_arrow(self) -> pa.Table:
        """One row for each change."""
        return table_of(
            self,
            {
                "changed": lambda one: one.changed,
                "policy": lambda one: one.ref,
                "status": lambda one: one.status.value,
                "reason": lambda one: one.reason,
            },
        )


class Seasons(tuple[Season, ...], Printed):
    """The seasons of a home.  The key of one that is open is not shown."""

    def sheet(self, width: int = WIDTH) -> Sheet:
        """One line for each season."""
        rows = [
            (
                str(one.number),
                f"{one.opened:%Y-%m-%d %H:%M}",
                f"{one.closed:%Y-%m-%d %H:%M}" if one.closed else "open",
                one.commitment[:16] or "-",
            )
            for one in self
        ]
        columns = ("season", "opened (UTC)", "closed (UTC)", "commitment")
        return Sheet("", dict.fromkeys(columns, "left"), tuple(rows))

    def to_arrow(self) -> pa.Table:
        """One row for each season."""
        return table_of(
            self,
            {
                "season": lambda one: one.number,
                "opened": lambda one: one.opened,
                "closed": lambda one: one.closed,
                "commitment": lambda one: one.commitment,
                "given": lambda one: one.given,
                "key": lambda one: one.key.hex() if one.key and one.closed else None,
            },
        )
