"""Parquet files for other tools."""

from __future__ import annotations

import os
from pathlib import Path

from arena.store.append import MICROS
from arena.store.errors import StoreUnwritable
from arena.store.schema import Connection

_MATCHES = f"""
    select replace(m.id::varchar, '-', '') as id, g.name as game, g.version as game_version,
           l.digest as low, h.digest as high, m.repetition, m.return_low, m.termination,
           m.fault_seat, m.fault_message, m.wall, m.micros / {MICROS} as seconds,
           m.cpu_micros_low / {MICROS} as cpu_seconds_low,
           m.cpu_micros_high / {MICROS} as cpu_seconds_high, m.played_at
    from matches as m join pairs as p using (pair) join games as g using (game)
    join policies as l on l.policy = p.low join policies as h on h.policy = p.high
"""

_PAIRS = f"""
    select g.name as game, g.version as game_version, l.digest as low, h.digest as high,
           t.* exclude (pair, reach, micros), t.micros / {MICROS} as seconds
    from tallies as t join pairs as p using (pair) join games as g using (game)
    join policies as l on l.policy = p.low join policies as h on h.policy = p.high
    order by game, game_version, low, high, half
"""


def export(connection: Connection, folder: Path) -> tuple[Path, ...]:
    """See `MatchStore.export`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(f"{folder} cannot be made ({error.strerror})") from error
    written = []
    for name, query in (("matches", _MATCHES), ("pairs", _PAIRS)):
        file = folder / f"{name}.parquet"
        partial = file.with_name(file.name + ".partial")
        try:
            quoted = str(partial).replace("'", "''")
            connection.execute(f"copy ({query}) to '{quoted}' (format parquet, compression zstd)")
            os.replace(partial, file)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        written.append(file)
    return tuple(written)
