"""The questions that the store answers, as SQL on an open connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.store import rows
from arena.store.catalog import Connection
from arena.store.policy_numbers import policy_numbers
from arena.store.rows import MATCH, OUTCOME, TABLES
from arena.store.values import (
    Costs,
    GameCount,
    MatchRow,
    Sharing,
    StoredRepetitions,
)
from arena.values import LOCKSTEP, SELECTING, TRUSTED, Match, Result

ID_DIGITS = 32


def find(connection: Connection, prefix: str, limit: int) -> list[Match]:
    """Stored matches whose id begins with `prefix` (lower-case hexadecimal), in id order."""
    first, last = prefix.ljust(ID_DIGITS, "0"), prefix.ljust(ID_DIGITS, "f")
    found = connection.execute(
        f"""
        select {MATCH} from matches as m {TABLES}
        where m.id between ?::uuid and ?::uuid order by m.id limit ?
        """,
        [first, last, limit],
    ).fetchall()
    return [rows.match_of(row) for row in found]


def get(connection: Connection, match_id: str) -> Result | None:
    """The stored result with its moves still packed."""
    found = connection.execute(
        f"""
        select {MATCH}, {OUTCOME},
               if(octet_length(m.moves) > {rows.MOST_MOVE_BYTES}, null, m.moves),
               m.cpu_micros_low, m.cpu_micros_high
        from matches as m {TABLES} where m.id = ?::uuid
        """,
        [match_id],
    ).fetchone()
    return None if found is None else rows.result_of(found)


def matches(
    connection: Connection,
    game: str,
    version: int,
    *,
    of: str | None,
    against: str | None,
    faults_only: bool,
    selecting: bool,
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
    if not selecting:
        wanted.append(f"m.repetition < {SELECTING}")
    order = "desc" if newest_first else "asc"
    places = f"""
        select m.rowid as place from matches as m {TABLES} where {" and ".join(wanted)}
        order by m.rowid {order} limit {"all" if limit is None else int(limit)} offset {int(offset)}
    """
    return rows_at(connection, places, parameters, order)


def rows_at(
    connection: Connection, places: str, parameters: Sequence[Any], order: str
) -> list[MatchRow]:
    """The matches at some places.

    To choose the places first, from few columns, is what makes the newest of a million quick.

    Args:
      connection: to the store.
      places: a query with the column `place`, a rowid of `matches`.
      parameters: of that query.
      order: "asc" for the first stored first, or "desc".
    """
    found = connection.execute(
        f"""
        with chosen as ({places})
        select {MATCH}, {OUTCOME}, m.played_at
        from chosen join matches as m on m.rowid = chosen.place {TABLES}
        order by m.rowid {order}
        """,
        parameters,
    ).fetchall()
    return [rows.match_row(row) for row in found]


def repetitions(
    connection: Connection,
    game: str,
    version: int,
    digests: Collection[str],
    count: int,
    first: int,
) -> StoredRepetitions:
    """See `MatchStore.repetitions`."""
    names = tuple(sorted(set(digests)))
    keys = policy_numbers(connection, game, version, names)
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
    prefix = np.clip(stored - first, 0, count).astype(np.int32)
    scattered: dict[tuple[int, int], frozenset[int]] = {}
    # As many matches as the greatest repetition tells: then there is no gap.
    gaps = np.flatnonzero((stored != reach) & (reach > first))
    found = _stored_of(connection, np.asarray(held["pair"])[gaps], first, count)
    for k, have in zip(gaps.tolist(), found, strict=True):
        prefix[k] = next(r for r in range(count + 1) if r not in have)
        beyond = frozenset(r for r in have if r > prefix[k])
        if beyond:
            scattered[int(low[k]), int(high[k])] = beyond
    return StoredRepetitions(names, low, high, prefix, scattered)


def _stored_of(
    connection: Connection, pairs: NDArray[Any], first: int, count: int
) -> Iterable[set[int]]:
    """Which of `count` repetitions are stored for each of these pairs, from the rows.

    They are counted from `first`.
    """
    if not len(pairs):
        return []
    stored = connection.execute(
        """
        select pair, list(repetition - $first) from matches
        where pair in (select unnest($pairs::integer[]))
          and repetition >= $first and repetition < $first + $count group by pair
        """,
        {"pairs": pairs.tolist(), "first": first, "count": count},
    ).fetchall()
    found = {pair: set(repetitions) for pair, repetitions in stored}
    return [found.get(pair, set()) for pair in pairs.tolist()]


def counts(connection: Connection) -> tuple[GameCount, ...]:
    """See `MatchStore.counts`."""
    found = connection.execute(
        f"""
        with apart as (
            select p.game, count(*) as matches, count(m.fault_seat) as forfeits
            from matches as m join pairs as p using (pair)
            where m.repetition >= {SELECTING}
              and m.pair in (select pair from tallies where reach > {SELECTING})
            group by p.game
        )
        select g.name, g.version,
               (g.matches - coalesce((select a.matches from apart as a where a.game = g.game), 0)
               )::bigint,
               (select count(*) from pairs as p where p.game = g.game),
               (select count(*) from (select low from pairs as p where p.game = g.game
                                      union select high from pairs as p where p.game = g.game)),
               ((select coalesce(sum(forfeits_low + forfeits_high), 0)
                 from tallies join pairs as p using (pair) where p.game = g.game)
                - coalesce((select a.forfeits from apart as a where a.game = g.game), 0)
               )::bigint
        from games as g order by g.name, g.version
        """
    ).fetchall()
    return tuple(GameCount(*row) for row in found)


def sharing(connection: Connection, game: str, version: int) -> dict[str, Sharing]:
    """See `MatchStore.sharing`."""
    found = connection.execute(
        """
        with sums as (
            select p.low, p.high, i.matches, i.do_overs,
                   i.wall not in (select unnest(?::varchar[])) as sandboxed,
                   ends_with(i.wall, ?) as shared
            from isolation as i join pairs as p using (pair) join games as g using (game)
            where g.name = ? and g.version = ?
        ), mine as (
            select low as policy, * exclude (low, high) from sums
            union all select high, * exclude (low, high) from sums where low <> high
        )
        select digest, (coalesce(sum(matches) filter (where sandboxed), 0))::bigint,
               (coalesce(sum(matches) filter (where sandboxed and shared), 0))::bigint,
               sum(do_overs)::bigint
        from mine join policies using (policy) group by digest
        """,
        [list(TRUSTED), LOCKSTEP, game, version],
    ).fetchall()
    return {digest: Sharing(*counts) for digest, *counts in found}


def trends(
    connection: Connection, game: str, version: int, slices: int
) -> dict[str, tuple[float, ...]]:
    """See `MatchStore.trends`."""
    found = connection.execute(
        f"""
        with mine as (
            select p.low, p.high, m.return_low, row_number() over () as place
            from matches as m join pairs as p using (pair) join games as g using (game)
            where g.name = $game and g.version = $version and p.low <> p.high
              and m.repetition < {SELECTING}
        ), sums as (
            select low, high,
                   place * $slices // (select count(*) + 1 from mine) as slice,
                   sum(return_low) as total, count(*) as matches
            from mine group by all
        ), sides as (
            select low as policy, slice, total, matches from sums
            union all select high, slice, 0.0 - total, matches from sums
        )
        select digest, slice::integer as slice, sum(total) as total, sum(matches)::double as matches
        from sides join policies using (policy) group by digest, slice
        """,
        {"game": game, "version": version, "slices": slices},
    ).fetchnumpy()
    names, whose = np.unique(np.asarray(found["digest"]), return_inverse=True)
    sums = np.zeros((2, len(names), slices))
    sums[:, whose, np.asarray(found["slice"])] = found["total"], found["matches"]
    running, played = np.cumsum(sums, axis=2)
    means = running / np.maximum(played, 1)
    return {
        str(name): tuple(row[met > 0].tolist())
        for name, row, met in zip(names.tolist(), means, played, strict=True)
    }


def costs(connection: Connection, game: str, version: int, digest: str) -> Costs:
    """See `MatchStore.costs`.

    A policy that plays natively is not timed alone: its processor time is stored as 0.
    """
    (row,) = connection.execute(
        f"""
        with me as (select policy from policies where digest = $digest), mine as (
            select p.pair, p.low = me.policy as is_low
            from pairs as p join games as g using (game), me
            where g.name = $game and g.version = $version
              and (p.low = me.policy or p.high = me.policy)
        )
        select count(*),
               count(*) filter (where fault_seat is not null
                                and (fault_seat = repetition % 2) = is_low),
               avg(nullif(if(is_low, cpu_micros_low, cpu_micros_high), 0)), avg(micros)
        from matches join mine using (pair) where repetition < {SELECTING}
        """,
        {"game": game, "version": version, "digest": digest},
    ).fetchall()
    return Costs(*row)


def fingerprint(connection: Connection, game: str, version: int) -> str:
    """See `MatchStore.fingerprint`."""
    ((token,),) = connection.execute("select token from store").fetchall()
    ((stored,),) = connection.execute(
        "select coalesce(sum(matches), 0)::bigint from games where name = ? and version = ?",
        [game, version],
    ).fetchall()
    return f"{token}:{stored}"
