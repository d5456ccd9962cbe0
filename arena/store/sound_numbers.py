"""Recognises sound stores by one pass over their numbers.

DuckDB groups millions of pairs to find one that is listed twice; an array of marks tells in a tenth
of the time that none is.  It tells no more: whatever these arrays cannot vouch for is for the
queries of `arena.store.soundness` to judge and to name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.columns import numbers
from arena.store.batches import Batches
from arena.store.catalog import Connection

Numbers = NDArray[np.integer[Any]]
_EXACT = 1 << 53
"""Up to here sums of whole numbers are exact as floats."""
_LARGEST = 1 << 63


class _Doubtful(Exception):
    """These numbers are for the queries to judge."""


def agree(connection: Connection) -> bool:
    """Whether pairs, tallies and isolation surely agree with each other and with the games.

    True says: pairs are numbered 0, 1, ..., each is listed once, and the games and policies that
    they name are in range; no pair has two tallies of one half, nor two rows of isolation behind
    one wall; and matches add up, of each pair behind all walls, and of each game.

    Args:
      connection: to a file that was inspected.
    """
    try:
        pairs = _pairs(connection)
        played = _played(connection, pairs)
        _check_games(connection, pairs, played)
        _check_isolation(connection, played)
    except _Doubtful:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """How many there are, and the game of each by its number."""

    count: int
    game: Numbers


def _sure(holds: bool | np.bool_) -> None:
    if not holds:
        raise _Doubtful


def _count(connection: Connection, table: str) -> int:
    ((count,),) = connection.execute(f"select count(*) from {table}").fetchall()
    return int(count)


def _columns(connection: Connection, query: str) -> Iterator[list[NDArray[Any]]]:
    """The columns of a query's rows, some rows at a time."""
    for batch in Batches(connection, query):
        _sure(not any(column.null_count for column in batch.columns))
        yield [numbers(column) for column in batch.columns]


def _within(numbers: Numbers, least: int, beyond: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= least and numbers.max() < beyond)


def _pairs(connection: Connection) -> _Pairs:
    games, policies, count = (_count(connection, name) for name in ("games", "policies", "pairs"))
    _sure(games * policies**2 < _LARGEST)
    listed, game = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    ends, at = np.zeros(count, np.int64), 0
    for pair, of, low, high in _columns(connection, "select pair, game, low, high from pairs"):
        _sure(_within(pair, 0, count) and _within(of, 0, games))
        _sure(_within(low, 0, policies) and _within(high, 0, policies))
        listed[pair], game[pair] = True, of
        ends[at : at + len(pair)] = (of.astype(np.int64) * policies + low) * policies + high
        at += len(pair)
    ends.sort()
    _sure(listed.all() and not (ends[1:] == ends[:-1]).any())
    return _Pairs(count, game)


def _played(connection: Connection, pairs: _Pairs) -> Numbers:
    """Matches of each pair by its number, as the tallies count them."""
    most, rows = _count(connection, "matches") + 1, 0
    halves = np.zeros((2, pairs.count), np.int64)
    for pair, half, matches in _columns(connection, "select pair, half, matches from tallies"):
        _sure(_within(pair, 0, pairs.count) and _within(half, 0, 2) and _within(matches, 1, most))
        halves[half, pair] = matches
        rows += len(pair)
    # A half that is there twice is written to one place.
    _sure(np.count_nonzero(halves) == rows and rows * most < _EXACT)
    both: Numbers = halves.sum(axis=0)
    return both


def _check_games(connection: Connection, pairs: _Pairs, played: Numbers) -> None:
    counted = connection.execute("select game, matches from games").fetchall()
    found = np.bincount(pairs.game, played, len(counted))
    _sure(all(0 <= game < len(found) and found[game] == n for game, n in counted))


def _check_isolation(connection: Connection, played: Numbers) -> None:
    count, most = len(played), int(played.max(initial=0)) + 1
    behind, times = np.zeros(count, np.int64), np.zeros(count, np.int64)
    walls: list[tuple[Numbers, Numbers]] = []
    query = "select pair, hash(wall), matches, do_overs from isolation"
    for pair, wall, matches, do_overs in _columns(connection, query):
        _sure(_within(pair, 0, count) and _within(matches, 1, most))
        _sure(_within(do_overs, 0, most) and bool((do_overs <= matches).all()))
        np.add.at(behind, pair, matches)
        np.add.at(times, pair, 1)
        walls.append((pair, wall))
    _sure(times.sum() * most < _EXACT and np.array_equal(behind, played))
    several = [
        one
        for pair, wall in walls
        for one in zip(*(column[times[pair] > 1].tolist() for column in (pair, wall)), strict=True)
    ]
    _sure(len(set(several)) == len(several))
