"""Values of pairs as square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]

_ROWS = 32
"""Of a matrix, written together: their indices stay in the processor's cache."""


class Cells:
    """The cells (row, column) and (column, row) of k pairs in square matrices of n policies.

    Cells look up their values: to write each value to its cells instead takes three times as long,
    as it is quicker to read memory in any order than to write it.
    """

    def __init__(
        self, n: int, rows: NDArray[np.integer[Any]], columns: NDArray[np.integer[Any]]
    ) -> None:
        """Each pair of two different policies at most once."""
        # Of each cell twice the number of its pair, and one more where the column's policy is its
        # first; where there is no pair, as if it were one more pair.
        self._cells = np.full((n, n), 2 * len(rows), dtype=np.int32)
        flat, numbers = self._cells.reshape(-1), np.arange(len(rows), dtype=np.int32)
        # One flat index into a matrix is twice as fast as two.
        flat[rows.astype(np.intp) * n + columns] = 2 * numbers
        flat[columns.astype(np.intp) * n + rows] = 2 * numbers + 1

    def fill(
        self, matrices: NDArray[Any], above: NDArray[Any], below: NDArray[Any] | None = None
    ) -> None:
        """Writes what the row's and what the column's policy of each pair sees.

        Cells of no pair become NaN, or 0 in matrices of counts; the diagonal becomes 0.

        Args:
          matrices: (n, n) or (2, n, n), contiguous; changed.
          above: (k,) or (2, k), for the cells (row, column).
          below: the same for the cells (column, row); where not given, both see the same.
        """
        if matrices.ndim == 2:
            self._fill(matrices, above, below)
        else:
            for half, matrix in enumerate(matrices):
                self._fill(matrix, above[half], None if below is None else below[half])

    def _fill(self, matrix: NDArray[Any], above: NDArray[Any], below: NDArray[Any] | None) -> None:
        values = np.empty((len(above) + 1, 1 if below is None else 2), dtype=matrix.dtype)
        values[:-1, 0], values[-1] = above, np.nan if matrix.dtype.kind == "f" else 0
        if below is not None:
            values[:-1, 1] = below
        for start in range(0, len(matrix), _ROWS):
            rows = slice(start, start + _ROWS)
            cells = self._cells[rows].astype(np.intp)
            if below is None:
                cells >>= 1
            # Indices are in range; to be told so spares numpy a copy.
            np.take(values.reshape(-1), cells, out=matrix[rows], mode="clip")
        np.fill_diagonal(matrix, 0)
