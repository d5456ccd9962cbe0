"""Answers that are too large to be in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from arena.store.catalog import Connection

ROWS = 1 << 16
"""Of a batch, about."""


class Batches:
    """The rows of a query, some at a time; to be read once, before the connection is asked again.

    What goes wrong on the way is a `duckdb.Error`, as with any other question: Arrow alone would
    make an `OSError` of it, and nobody could tell a damaged store from a full disk.

    Attributes:
      schema: of each batch.
    """

    def __init__(
        self,
        connection: Connection,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        rows: int = ROWS,
    ) -> None:
        # Of `connection.execute` the whole answer would be in memory before the first batch is.
        self._reader = connection.sql(query, params=parameters or None).to_arrow_reader(rows)
        self.schema: pa.Schema = self._reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            except (OSError, pa.ArrowException) as error:
                raise _of_duckdb(str(error)) from error
            yield batch


def _of_duckdb(text: str) -> duckdb.Error:
    """The error that DuckDB told Arrow of; its text begins with the kind."""
    short = text.startswith("Out of Memory")
    return duckdb.OutOfMemoryException(text) if short else duckdb.Error(text)
