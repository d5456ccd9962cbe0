"""The questions that the store answers, as SQL on an open connection."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena.store.append import MICROS
from arena.store.schema import Connection
from arena.store.values import GameCount, MatchRow, StoredRepetitions, returns_of
from arena.values import Match, Result, Termination

_MATCH_COLUMNS = "g.name, g.version, l.digest, h.digest, m.repetition"
_MATCH_TABLES = """
    matches as m
    join pairs as p using (pair)
    join games as g using (game)
    join policies as l on l.policy = p.low
    join policies as h on h.policy = p.high
"""

ID_DIGITS = 32


def find(connection: Connection, prefix: str, limit: int) -> list[Match]:
    """Stored matches whose id begins with `prefix` (lower-case hexadecimal), in id order."""
    first, last = prefix.ljust(ID_DIGITS, "0"), prefix.ljust(ID_DIGITS, "f")
    rows = connection.execute(
        f"""
        select {_MATCH_COLUMNS} from {_MATCH_TABLES}
        where m.id between ?::uuid and ?::uuid order by m.id limit ?
        """,
        [first, last, limit],
    ).fetchall()
    return [Match(*row) for row in rows]


def get(connection: Connection, match_id: str) -> Result | None:
    """The stored result with its moves still packed."""
    row = connection.execute(
        f"""
        select {_MATCH_COLUMNS}, m.return_low, m.termination, m.fault_seat, m.fault_message,
               m.moves, m.wall, m.micros, m.cpu_micros_low, m.cpu_micros_high
        from {_MATCH_TABLES} where m.id = ?::uuid
        """,
        [str(uuid.UUID(match_id))],
    ).fetchone()
    if row is None:
        return None
    match = Match(*row[:5])
    return_low, termination, fault_seat, message, moves, wall, micros, cpu_low, cpu_high = row[5:]
    cpu = (cpu_low / MICROS, cpu_high / MICROS)
    return Result(
        match=match,
        returns=returns_of(match, return_low),
        termination=Termination(termination),
        fault_seat=fault_seat,
        fault_message=message,
        moves=bytes(moves),
        wall=wall,
        seconds=micros / MICROS,
        cpu_seconds=cpu if match.repetition % 2 == 0 else (cpu[1], cpu[0]),
    )


def matches(
    connection: Connection,
    game: str,
    version: int,
    *,
    of: str | None,
    against: str | None,
    faults_only: bool,
    newest_first: bool,
    limit: int | None,
    offset: int,
) -> list[MatchRow]:
    """See `MatchStore.matches`."""
    wanted, parameters = ["g.name = ?", "g.version = ?"], [game, version]
    if of is not None and against is not None:
        wanted.append("l.digest = ? and h.digest = ?")
        parameters += sorted((of, against))
    elif of is not None or against is not None:
        wanted.append("(l.digest = ? or h.digest = ?)")
        parameters += [of or against] * 2
    if faults_only:
        wanted.append("m.fault_seat is not null")
    rows = connection.execute(
        f"""
        select {_MATCH_COLUMNS}, m.return_low, m.termination, m.fault_seat, m.fault_message,
               m.wall, m.micros, m.played_at
        from {_MATCH_TABLES} where {" and ".join(wanted)}
        order by m.rowid {"desc" if newest_first else "asc"}
        limit {"all" if limit is None else int(limit)} offset {int(offset)}
        """,
        parameters,
    ).fetchall()
    return [
        MatchRow(
            match=Match(*row[:5]),
            return_low=row[5],
            termination=Termination(row[6]),
            fault_seat=row[7],
            fault_message=row[8],
            wall=row[9],
            seconds=row[10] / MICROS,
            played_at=row[11].replace(tzinfo=UTC),
        )
        for row in rows
    ]


def pair_stats(
    connection: Connection, game: str, version: int, among: Collection[str] | None
) -> pa.Table:
    """See `MatchStore.pair_stats`."""
    keys = _policies(connection, game, version, among)
    table = connection.sql(
        """
        select p.low, p.high, t.half, t.matches, t.total, t.total_squares,
               t.deals, t.deal_squares, t.deal_cross, t.deal_sizes,
               t.wins, t.draws, t.losses, t.forfeits_low, t.forfeits_high,
               t.micros / ? as seconds
        from tallies as t join pairs as p using (pair) join games as g using (game)
        where g.name = ? and g.version = ? and p.low in (select unnest(?::integer[]))
          and p.high in (select unnest(?::integer[]))
        order by p.low, p.high, t.half
        """,
        params=[MICROS, game, version, *[keys.numbers.tolist()] * 2],
    ).to_arrow_table()
    return keys.named(table)


def returns_in_id_order(
    connection: Connection, game: str, version: int, max_repetition: int | None
) -> pa.Table:
    """See `MatchStore.returns_in_id_order`."""
    keys = _policies(connection, game, version, None)
    table = connection.sql(
        """
        select p.low, p.high, m.return_low
        from matches as m join pairs as p using (pair) join games as g using (game)
        where g.name = ? and g.version = ? and m.repetition <= ?
        order by m.id
        """,
        params=[game, version, 2**31 - 1 if max_repetition is None else max_repetition],
    ).to_arrow_table()
    return keys.named(table)


class _Policies:
    """Some policies' numbers and digests, to put names into tables of numbers."""

    def __init__(self, rows: Sequence[tuple[int, str]]) -> None:
        self.numbers = np.array([number for number, _ in rows], dtype=np.int32)
        self.digests = pa.array([digest for _, digest in rows], pa.string())

    def named(self, table: pa.Table) -> pa.Table:
        """The table with its first two columns (numbers) as dictionary-encoded digests."""
        for position, name in enumerate(("low", "high")):
            numbers = table.column(position).to_numpy()
            places = pa.array(np.searchsorted(self.numbers, numbers).astype(np.int32))
            column = pa.DictionaryArray.from_arrays(places, self.digests)
            table = table.set_column(position, name, column)
        return table


def _policies(
    connection: Connection, game: str, version: int, among: Collection[str] | None
) -> _Policies:
    """Those that played the game and, where given, are among `among`; by number."""
    rows = connection.execute(
        """
        with met as (
            select low, high from pairs join games using (game) where name = ? and version = ?
        )
        select policy, digest from policies
        where policy in (select low from met union select high from met)
          and (? or digest in (select unnest(?::varchar[])))
        order by policy
        """,
        [game, version, among is None, sorted(set(among or ()))],
    ).fetchall()
    return _Policies(rows)


def repetitions(
    connection: Connection, game: str, version: int, digests: Collection[str], below: int
) -> StoredRepetitions:
    """See `MatchStore.repetitions`."""
    names = tuple(sorted(set(digests)))
    keys = _policies(connection, game, version, names)
    index = {digest: place for place, digest in enumerate(names)}
    place_of = np.array([index[digest] for digest in keys.digests.to_pylist()], dtype=np.int32)
    held = connection.execute(
        """
        select p.pair, p.low, p.high, sum(t.matches)::integer as stored, max(t.reach) as reach
        from tallies as t join pairs as p using (pair) join games as g using (game)
        where g.name = ? and g.version = ? and p.low in (select unnest(?::integer[]))
          and p.high in (select unnest(?::integer[]))
        group by p.pair, p.low, p.high
        """,
        [game, version, *[keys.numbers.tolist()] * 2],
    ).fetchnumpy()
    ends = [np.asarray(held[name]) for name in ("low", "high")]
    low, high = (place_of[np.searchsorted(keys.numbers, end)] for end in ends)
    stored, reach = (np.asarray(held[name], dtype=np.int32) for name in ("stored", "reach"))
    prefix = np.minimum(stored, below).astype(np.int32)
    scattered: dict[tuple[int, int], frozenset[int]] = {}
    # As many matches as the greatest repetition tells: then there is no gap.
    gaps = np.flatnonzero(stored != reach)
    found = _stored_of(connection, np.asarray(held["pair"])[gaps], below)
    for k, have in zip(gaps.tolist(), found, strict=True):
        prefix[k] = next(r for r in range(below + 1) if r not in have)
        beyond = frozenset(r for r in have if r > prefix[k])
        if beyond:
            scattered[int(low[k]), int(high[k])] = beyond
    return StoredRepetitions(names, low, high, prefix, scattered)


def _stored_of(connection: Connection, pairs: NDArray[Any], below: int) -> Iterable[set[int]]:
    """The stored repetitions below `below` of each of these pairs, from the rows."""
    if not len(pairs):
        return []
    rows = connection.execute(
        """
        select pair, list(repetition) from matches
        where pair in (select unnest(?::integer[])) and repetition < ? group by pair
        """,
        [pairs.tolist(), below],
    ).fetchall()
    found = {pair: set(stored) for pair, stored in rows}
    return [found.get(pair, set()) for pair in pairs.tolist()]


def counts(connection: Connection) -> tuple[GameCount, ...]:
    """See `MatchStore.counts`."""
    rows = connection.execute(
        """
        select g.name, g.version, g.matches,
               (select count(*) from pairs as p where p.game = g.game),
               (select count(*) from (select low from pairs as p where p.game = g.game
                                      union select high from pairs as p where p.game = g.game)),
               (select coalesce(sum(forfeits_low + forfeits_high), 0)::bigint
                from tallies join pairs as p using (pair) where p.game = g.game)
        from games as g order by g.name, g.version
        """
    ).fetchall()
    return tuple(GameCount(*row) for row in rows)


def fingerprint(connection: Connection, game: str, version: int) -> str:
    """See `MatchStore.fingerprint`."""
    token, stored = connection.execute(
        """
        select token, coalesce((select matches from games where name = ? and version = ?), 0)
        from store
        """,
        [game, version],
    ).fetchone()
    return f"{token}:{stored}"
