"""Policies have numbers in the store; these are theirs, and the digests behind them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena.columns import column_of, numbers, texts
from arena.store.catalog import Connection


class PolicyNumbers:
    """Some policies' numbers and digests, to put names into tables of numbers."""

    def __init__(self, listed: Sequence[tuple[int, str]]) -> None:
        self.numbers = np.array([number for number, _ in listed], dtype=np.int32)
        self.digests = texts([digest for _, digest in listed])
        # To look millions of numbers up in an array takes a tenth of searching for each.
        self._place = np.zeros(int(self.numbers.max(initial=-1)) + 1, dtype=np.int32)
        self._place[self.numbers] = np.arange(len(listed), dtype=np.int32)

    def places(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Where some numbers, all of them among these policies', stand among them."""
        places: NDArray[np.int32] = self._place[numbers]
        return places

    def named(self, table: pa.Table) -> pa.Table:
        """The table with its first two columns (numbers) as dictionary-encoded digests."""
        for position, name in enumerate(("low", "high")):
            places = self.places(numbers(table.column(position)))
            column = pa.DictionaryArray.from_arrays(column_of(places), self.digests)
            table = table.set_column(position, name, column)
        return table


def policy_numbers(
    connection: Connection, game: str, version: int, among: Collection[str] | None
) -> PolicyNumbers:
    """Those that played the game and, where given, are among `among`; by number."""
    found = connection.execute(
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
    return PolicyNumbers(found)
