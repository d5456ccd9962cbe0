"""Columns of Arrow as numpy's arrays, and back, without pandas.

Arrow's own ways (`pa.array`, `to_numpy`) load pandas wherever it is installed, to ask whether it
made what they are given.  Of a small home's leaderboard that was a seventh of the processor time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 0:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """A column of k numbers as an array (k,), read-only.

    Raises:
      pa.ArrowInvalid: an entry is missing.
    """
    piece = whole(column)
    if piece.null_count:
        raise pa.ArrowInvalid(f"{piece.null_count} of {len(piece)} numbers are missing")
    if not len(piece):  # of which Arrow may not even know the type
        return np.zeros(0, piece.type.to_pandas_dtype())
    return np.from_dlpack(piece)


def column_of(values: NDArray[Any]) -> pa.Array:
    """An array (k,) of numbers as a column."""
    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def texts(values: Sequence[str]) -> pa.StringArray:
    """Some texts as a column."""
    written = [value.encode() for value in values]
    ends = np.zeros(len(written) + 1, np.int32)
    np.cumsum([len(one) for one in written], out=ends[1:])
    return pa.StringArray.from_buffers(
        len(written), pa.py_buffer(ends), pa.py_buffer(b"".join(written))
    )
