"""Answers of a store that are read some rows at a time, and what goes wrong in the middle."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.store import StoreError
from arena.store.batches import ROWS, Batches
from arena.store.errors import StoreCorrupt
from tests.arena.doctored_store import honest_store


def test_batches_are_the_rows_of_a_query_in_their_order(tmp_path: Path) -> None:
    store = honest_store(tmp_path / "matches.duckdb")
    query = "select range as n from range($count)"
    with store.reading() as connection:
        batches = Batches(connection, query, {"count": 3 * ROWS + 5}, ROWS)
        assert batches.schema.names == ["n"]
        found = [batch.column("n").to_pylist() for batch in batches]
        assert max(map(len, found)) <= ROWS
        assert [n for part in found for n in part] == list(range(3 * ROWS + 5))
        assert not list(Batches(connection, query, {"count": 0}))


def test_what_goes_wrong_in_the_middle_is_told_as_the_stores_own(tmp_path: Path) -> None:
    store = honest_store(tmp_path / "matches.duckdb")
    # DuckDB works ahead of its reader until about a megabyte is waiting: 200 of them come before.
    query = "select repeat('x', 1000), (range * 10000)::integer from range(300000)"
    before = 0
    with pytest.raises(StoreCorrupt), store.reading() as connection:
        for batch in Batches(connection, query):
            before += batch.num_rows
    assert before > 0


def test_a_store_with_too_little_memory_is_not_called_damaged(tmp_path: Path) -> None:
    store = honest_store(tmp_path / "matches.duckdb")
    # One value that is as large as all the memory that DuckDB has, in a late row.
    query = "select repeat('x', if(range = 900000, 4000000000, 1)) as n from range(1000000)"
    with pytest.raises(StoreError) as refused, store.reading() as connection:
        for _ in Batches(connection, query):
            pass
    assert not isinstance(refused.value, StoreCorrupt)
