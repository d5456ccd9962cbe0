"""All matches of one pair that count, with their moves."""

from __future__ import annotations

from arena.store import rows
from arena.store.catalog import Connection
from arena.store.rows import MATCH, MOST_MOVE_BYTES, OUTCOME, TABLES
from arena.values import SELECTING, Result


def meetings(
    connection: Connection, game: str, version: int, pair: tuple[str, str]
) -> list[Result]:
    """See `MatchStore.meetings`; moves stay packed."""
    found = connection.execute(
        f"""
        select {MATCH}, {OUTCOME}, if(octet_length(m.moves) > {MOST_MOVE_BYTES}, null, m.moves),
               m.cpu_micros_low, m.cpu_micros_high
        from matches as m {TABLES}
        where g.name = ? and g.version = ? and l.digest = ? and h.digest = ?
          and m.repetition < {SELECTING}
        order by m.repetition
        """,
        [game, version, min(pair), max(pair)],
    ).fetchall()
    return [rows.result_of(row) for row in found]
