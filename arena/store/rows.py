"""Stored rows as values, and whether they make sense.

A row says which match it is twice: by its id, which is a hash of the match's content, and by its
columns.  A file that somebody changed by hand is found out where the two disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from arena.store.errors import CURE, StoreCorrupt
from arena.store.values import MatchRow, returns_of
from arena.values import Match, Result, Termination

MICROS = 1_000_000
MESSAGE_CHARS = 2_000
"""Longer messages of entrants are cut before they are stored."""
NAME_CHARS = 200
MOST_MOVE_BYTES = 1 << 20
"""Packed moves of a match are fewer: a small file can unpack to more than the memory holds."""

MATCH = """
    replace(m.id::varchar, '-', '') as id, g.name as game, g.version as game_version,
    l.digest as low, h.digest as high, m.repetition
"""
"""A match as SQL: its id and the fields of `Match`."""
OUTCOME = """
    m.return_low, m.termination, m.fault_seat, m.fault_message, m.wall, m.micros, m.season,
    m.playings
"""
"""What comes after it in the rows of `match_row` and `result_of`."""
TABLES = """
    join pairs as p using (pair)
    join games as g using (game)
    join policies as l on l.policy = p.low
    join policies as h on h.policy = p.high
"""
"""To be joined to `matches as m` for these."""

MATCH_FIELDS, OUTCOME_FIELDS = 6, 8
"""How many columns these are."""


def match_of(row: Sequence[Any]) -> Match:
    """The match of a row that begins with `MATCH`.

    Raises:
      StoreCorrupt: the row's id is that of another match.
    """
    content = row[1:MATCH_FIELDS]
    if row[0] is None or None in content:
        raise senseless(row[0], "it lacks a part of its identity")
    match = Match(*content)
    if match.id != row[0]:
        raise senseless(row[0], f"its content is that of match {match.id}")
    return match


def match_row(row: Sequence[Any]) -> MatchRow:
    """A row of `MATCH`, `OUTCOME` and the time at which it was stored.

    Raises:
      StoreCorrupt: the row makes no sense.
    """
    match, shared = match_of(row), _shared(row)
    played_at = row[-1]
    if not isinstance(played_at, datetime):  # a year that Python's calendar does not have
        raise senseless(row[0], f"it was played at {played_at}")
    found = MatchRow(
        match=match,
        return_low=row[MATCH_FIELDS],
        played_at=played_at.replace(tzinfo=UTC),
        **shared,
    )
    _check(found)
    return found


def result_of(row: Sequence[Any]) -> Result:
    """A row of `MATCH`, `OUTCOME`, packed moves, and processor time of low and high.

    The moves stay packed.

    Raises:
      StoreCorrupt: the row makes no sense.
    """
    match, shared = match_of(row), _shared(row)
    moves, *cpu_micros = row[-3:]
    if moves is None or None in cpu_micros:
        raise senseless(row[0], f"it lacks its times, or has over {MOST_MOVE_BYTES} bytes of moves")
    cpu_low, cpu_high = (micros / MICROS for micros in cpu_micros)
    result = Result(
        match=match,
        returns=returns_of(match, row[MATCH_FIELDS]),
        moves=bytes(moves),
        cpu_seconds=(cpu_low, cpu_high) if match.repetition % 2 == 0 else (cpu_high, cpu_low),
        **shared,
    )
    _check(result)
    return result


def defect(outcome: Result | MatchRow) -> str | None:
    """What cannot be about the numbers of a match's outcome, or None."""
    if not math.isfinite(outcome.return_low):
        return f"its return is {outcome.return_low}"
    if outcome.fault_seat not in (None, 0, 1):
        return f"seat {outcome.fault_seat} is at fault, and there are 0 and 1"
    if outcome.season < 0 or outcome.playings < 1:
        return (
            f"it is of season {outcome.season} and was played {outcome.playings} times; seasons "
            f"count from 0, and a match is played at least once"
        )
    return None


def is_name(text: str) -> bool:
    """Whether a text may name a game, a policy or a wall: names are shown as they are."""
    return 0 < len(text) <= NAME_CHARS and text.isprintable()


def _shared(row: Sequence[Any]) -> dict[str, Any]:
    """What rows and results say alike, from `OUTCOME`."""
    outcome = row[MATCH_FIELDS : MATCH_FIELDS + OUTCOME_FIELDS]
    _, termination, seat, message, wall, micros, season, playings = outcome
    if outcome.count(None) > (seat is None):
        raise senseless(row[0], "it lacks a part of its outcome")
    try:
        ended = Termination(termination)
    except ValueError:
        raise senseless(row[0], f"it ended by {termination[:40]!r}") from None
    if len(message) > MESSAGE_CHARS:
        raise senseless(row[0], f"its message has {len(message)} characters")
    return {
        "termination": ended,
        "fault_seat": seat,
        "fault_message": message,
        "wall": wall,
        "seconds": micros / MICROS,
        "season": season,
        "playings": playings,
    }


def _check(outcome: Result | MatchRow) -> None:
    wrong = defect(outcome)
    if wrong is not None:
        raise senseless(outcome.match.id, wrong)
    if not is_name(outcome.wall):
        raise senseless(outcome.match.id, f"{outcome.wall[:NAME_CHARS]!r} is no name of a wall")


def senseless(match_id: str, wrong: str) -> StoreCorrupt:
    """The error for a stored match, or an audit of it, that cannot be."""
    return StoreCorrupt(
        f"the stored match {match_id} makes no sense: {wrong}. Somebody changed the store by hand. "
        f"{CURE}"
    )
