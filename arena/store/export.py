"""Parquet files for other tools."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arena.store.batches import Batches
from arena.store.catalog import Connection
from arena.store.counted import COUNTED
from arena.store.errors import StoreError, StoreFull, StoreUnwritable
from arena.store.rows import (
    MATCH,
    MATCH_FIELDS,
    MICROS,
    MOST_MOVE_BYTES,
    TABLES,
    match_of,
    senseless,
)

Spans = dict[str, list[Any]]
"""Parameters of a query: names of games, and how many matches a deal of each has."""

MOVES = "moves.parquet"
"""What only some exports write."""
_BATCH = 50_000
"""Matches that are in memory at a time, about."""

_MATCHES = f"""
    select {MATCH}, m.return_low, m.termination, m.fault_seat, m.fault_message, m.wall,
           m.micros / {MICROS} as seconds, m.cpu_micros_low / {MICROS} as cpu_seconds_low,
           m.cpu_micros_high / {MICROS} as cpu_seconds_high, m.played_at, m.season, m.playings
    from matches as m {TABLES}
"""

_PAIRS = f"""
    with chosen as (
        select pair, span from pairs join games using (game) join (
            select unnest($names::varchar[]) as name, unnest($spans::integer[]) as span
        ) using (name)
    ), {COUNTED}
    select g.name as game, g.version as game_version, l.digest as low, h.digest as high,
           m.* exclude (pair, micros), m.micros / {MICROS} as seconds
    from counted as m semi join chosen using (pair) {TABLES}
    order by game, game_version, low, high, half
"""


_MOVES = f"""
    select replace(m.id::varchar, '-', '') as id, g.name as game, g.version as game_version,
           if(octet_length(m.moves) > {MOST_MOVE_BYTES}, null, m.moves) as moves
    from matches as m {TABLES}
"""

Unpack = Callable[[str, str, int, bytes], bytes]
"""From a match's id, game, rules and packed moves to its moves."""


def export(
    connection: Connection,
    folder: Path,
    span_of: Callable[[str], int],
    unpack: Unpack | None = None,
) -> tuple[Path, ...]:
    """See `MatchStore.export`.

    `span_of` tells how many matches a deal of a game has; with `unpack` moves are written, too.
    Without it, those that an earlier export left in the folder are removed: they are of fewer
    matches than the other files.

    DuckDB itself may not write: its connections reach no other file than the store.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(f"{folder} cannot be made ({error.strerror})") from error
    written = []
    games = [name for (name,) in connection.execute("select distinct name from games").fetchall()]
    spans = {"names": games, "spans": [span_of(name) for name in games]}
    tables: list[tuple[str, str, Spans]] = [("matches", _MATCHES, {}), ("pairs", _PAIRS, spans)]
    if unpack is not None:
        tables.append(("moves", _MOVES, {}))
    for name, query, parameters in tables:
        file = folder / f"{name}.parquet"
        partial = file.with_name(file.name + ".partial")
        try:
            partial.unlink(missing_ok=True)
            _write(connection, query, parameters, partial, unpack if name == "moves" else None)
            os.replace(partial, file)
        except BaseException as error:
            with suppress(OSError):  # the first error is the one to tell
                partial.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _told(error, file) from error
            raise
        written.append(file)
    if unpack is None:
        _remove(folder / MOVES)
    return tuple(written)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnwritable(
            f"{file} is of an earlier export and cannot be removed ({error.strerror}): remove it, "
            "or export into another folder"
        ) from error


def _write(
    connection: Connection, query: str, parameters: Spans, file: Path, unpack: Unpack | None
) -> None:
    batches = Batches(connection, query, parameters, _BATCH)
    with pq.ParquetWriter(file, batches.schema, compression="zstd") as writer:
        for batch in batches:
            if unpack is not None:
                batch = _unpacked(batch, unpack)
            elif batch.schema.names[0] == "id":
                _check(batch)
            writer.write_batch(batch)


def _unpacked(batch: pa.RecordBatch, unpack: Unpack) -> pa.RecordBatch:
    rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
    moves = []
    for match_id, game, version, packed in rows:
        if packed is None:
            raise senseless(match_id, f"it has over {MOST_MOVE_BYTES} bytes of moves")
        moves.append(unpack(match_id, game, version, packed))
    place = batch.schema.get_field_index("moves")
    return batch.set_column(place, batch.schema.field(place), pa.array(moves, pa.binary()))


def _check(matches: pa.RecordBatch) -> None:
    """Makes sure that every row is the match that its id says."""
    columns = (matches.column(place).to_pylist() for place in range(MATCH_FIELDS))
    for row in zip(*columns, strict=True):
        match_of(row)


def _told(error: OSError, file: Path) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreFull(f"there is no room left to write {file} ({error.strerror}): make room")
    return StoreUnwritable(f"{file} cannot be written ({error.strerror})")
