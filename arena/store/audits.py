"""What came of playing stored matches again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from arena.store.append import storable
from arena.store.catalog import Connection
from arena.store.queries import rows_at
from arena.store.rows import (
    MATCH,
    MATCH_FIELDS,
    MESSAGE_CHARS,
    NAME_CHARS,
    TABLES,
    is_name,
    match_of,
    senseless,
)
from arena.store.values import Audit, AuditCount, MatchRow, Verdict
from arena.values import TRUSTED, Match

_INCOMING = pa.schema(
    [
        ("id", pa.string()),
        ("game", pa.string()),
        ("version", pa.int32()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("repetition", pa.int32()),
        ("verdict", pa.string()),
        ("suspect", pa.string()),
        ("move", pa.int32()),
        ("stored", pa.string()),
        ("again", pa.string()),
        ("wall", pa.string()),
        ("audited_at", pa.timestamp("us")),
    ]
)


def incoming_table(audits: Sequence[Audit]) -> pa.Table:
    """The audits as columns, each once.

    Raises:
      ValueError: an audit contradicts itself, or has a time without a time zone.
    """
    unique: dict[tuple[str, datetime], Audit] = {}
    for audit in audits:
        _check(audit)
        unique.setdefault((audit.match.id, audit.audited_at), audit)
    chosen = list(unique.values())
    columns: dict[str, list[Any]] = {
        "id": [match_id for match_id, _ in unique],
        "game": [audit.match.game for audit in chosen],
        "version": [audit.match.game_version for audit in chosen],
        "low": [audit.match.low for audit in chosen],
        "high": [audit.match.high for audit in chosen],
        "repetition": [audit.match.repetition for audit in chosen],
        "verdict": [audit.verdict.value for audit in chosen],
        "suspect": [audit.suspect for audit in chosen],
        "move": [audit.move for audit in chosen],
        "stored": [storable(audit.stored) for audit in chosen],
        "again": [storable(audit.again) for audit in chosen],
        "wall": [audit.wall for audit in chosen],
        "audited_at": [audit.audited_at.astimezone(UTC).replace(tzinfo=None) for audit in chosen],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in _INCOMING]
    return pa.Table.from_arrays(arrays, schema=_INCOMING)


def _check(audit: Audit) -> None:
    match = audit.match
    if audit.verdict is Verdict.SAME and (audit.suspect, audit.move) != (None, None):
        raise ValueError(f"the audit of match {match.id} says {audit.verdict} and what differs")
    if audit.move is not None and audit.move < 0:
        raise ValueError(f"the audit of match {match.id} names move {audit.move}")
    if not is_name(audit.wall):
        raise ValueError(f"the audit of match {match.id}: {audit.wall!r} is no name of a wall")
    if audit.audited_at.tzinfo is None:
        raise ValueError(f"the time of the audit of match {match.id} has no time zone")


def record(connection: Connection, incoming: pa.Table) -> int:
    """Stores what is not stored yet, inside the caller's transaction; returns how many are new.

    Raises:
      ValueError: one is of a match that is not stored.
    """
    connection.register("incoming", incoming)
    connection.execute(_NUMBER_SUSPECTS)
    connection.execute(_FIND_MATCHES)
    lost = connection.execute("select id from incoming anti join audited using (id)").fetchone()
    if lost is not None:
        raise ValueError(f"match {lost[0]} is not stored, so it cannot have been audited")
    ((new,),) = connection.execute(_INSERT).fetchall()
    connection.execute("drop table audited")
    connection.unregister("incoming")
    return int(new)


# The suspect may be the member that a mixture drew, which has played no match under its own name.
_NUMBER_SUSPECTS = """
    insert into policies
    select (select count(*) from policies) + row_number() over (order by digest) - 1, digest
    from (select distinct suspect as digest from incoming where suspect is not null)
    anti join policies using (digest)
"""

_FIND_MATCHES = """
    create temp table audited as
    select i.id, m.pair, i.repetition, i.verdict, s.policy as suspect, i.move, i.stored, i.again,
           i.wall, i.audited_at
    from incoming as i
    join games as g on g.name = i.game and g.version = i.version
    join policies as l on l.digest = i.low
    join policies as h on h.digest = i.high
    join pairs as p on p.game = g.game and p.low = l.policy and p.high = h.policy
    join matches as m on m.pair = p.pair and m.repetition = i.repetition
    left join policies as s on s.digest = i.suspect
"""

_INSERT = """
    insert into audits
    select id::uuid, * exclude (id) from audited as new
    where not exists (
        select 1 from audits as old where old.id = new.id::uuid and old.audited_at = new.audited_at
    )
"""


def audits(
    connection: Connection,
    *,
    game: str | None,
    of: str | None,
    verdicts: Collection[Verdict] | None,
    limit: int | None,
) -> list[Audit]:
    """See `MatchStore.audits`."""
    wanted: list[str] = ["true"]
    parameters: list[Any] = []
    if game is not None:
        wanted.append("g.name = ?")
        parameters += [game]
    if of is not None:
        wanted.append("(l.digest = ? or h.digest = ? or s.digest = ?)")
        parameters += [of, of, of]
    if verdicts is not None:
        wanted.append("m.verdict in (select unnest(?::varchar[]))")
        parameters += [[verdict.value for verdict in verdicts]]
    found = connection.execute(
        f"""
        select {MATCH}, m.verdict, s.digest, m.move, m.stored, m.again, m.wall, m.audited_at
        from audits as m {TABLES} left join policies as s on s.policy = m.suspect
        where {" and ".join(wanted)}
        order by m.rowid desc limit {"all" if limit is None else int(limit)}
        """,
        parameters,
    ).fetchall()
    return [_audit(match_of(row), row[MATCH_FIELDS:]) for row in found]


def _audit(match: Match, row: Sequence[Any]) -> Audit:
    verdict, suspect, move, stored, again, wall, audited_at = row
    if verdict not in {one.value for one in Verdict}:
        raise senseless(match.id, f"its audit says {verdict[:40]!r}")
    if not is_name(wall):
        raise senseless(match.id, f"it was audited behind {wall[:NAME_CHARS]!r}")
    if not isinstance(audited_at, datetime):  # a year that Python's calendar does not have
        raise senseless(match.id, f"it was audited at {audited_at}")
    if move is not None and move < 0:
        raise senseless(match.id, f"its audit suspects {suspect} of move {move}")
    if max(len(stored), len(again)) > MESSAGE_CHARS:
        raise senseless(match.id, f"its audit tells more than {MESSAGE_CHARS} characters")
    audited_at = audited_at.replace(tzinfo=UTC)
    return Audit(match, Verdict(verdict), suspect, move, stored, again, wall, audited_at)


def audit_counts(connection: Connection, game: str, version: int) -> dict[str, AuditCount]:
    """See `MatchStore.audit_counts`."""
    found = connection.execute(
        """
        with mine as (
            select a.verdict,
                   unnest(if(a.suspect is not null, [a.suspect],
                             if(p.low = p.high, [p.low], [p.low, p.high]))) as policy
            from audits as a join pairs as p using (pair) join games as g using (game)
            where g.name = ? and g.version = ?
        )
        select digest, count(*) filter (where verdict = 'same'),
               count(*) filter (where verdict = 'different'),
               count(*) filter (where verdict = 'inconclusive')
        from mine join policies using (policy) group by digest
        """,
        [game, version],
    ).fetchall()
    return {digest: AuditCount(*counts) for digest, *counts in found}


def unaudited(
    connection: Connection, game: str, version: int, *, sandboxed_only: bool, limit: int
) -> list[MatchRow]:
    """See `MatchStore.unaudited`."""
    places = """
        select m.rowid as place
        from matches as m join pairs as p using (pair) join games as g using (game)
        anti join audits as a on a.id = m.id
        where g.name = ? and g.version = ?
          and (not ? or m.wall not in (select unnest(?::varchar[])))
        order by m.rowid desc limit ?
    """
    parameters = [game, version, sandboxed_only, list(TRUSTED), limit]
    return rows_at(connection, places, parameters, "desc")
