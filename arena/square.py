"""Values of pairs as square matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


def unknown(*shape: int) -> Floats:
    """Square matrices of numbers that nobody knows: NaN, with zeros on the diagonal."""
    matrices = np.full(shape, np.nan)
    matrices[..., range(shape[-1]), range(shape[-1])] = 0.0
    return matrices


def none(*shape: int) -> Counts:
    """Square matrices of counts, of nothing."""
    return np.zeros(shape, dtype=np.int32)


class Cells:
    """The cells (row, column) and (column, row) of k pairs in square matrices of n policies."""

    def __init__(
        self, n: int, rows: NDArray[np.integer[Any]], columns: NDArray[np.integer[Any]]
    ) -> None:
        self._n = n
        # One flat index into a matrix is twice as fast as two.
        self._upper = rows.astype(np.intp) * n + columns
        self._lower = columns.astype(np.intp) * n + rows

    def put(self, matrices: NDArray[Any], upper: NDArray[Any], lower: NDArray[Any]) -> None:
        """Writes what the row's and what the column's policy of each pair sees.

        Args:
          matrices: (n, n) or (2, n, n), contiguous; changed.
          upper: (k,) or (2, k), into the cells (row, column).
          lower: the same, into the cells (column, row).
        """
        # One matrix at a time: an index among others takes half as long again.
        for flat, seen_above, seen_below in zip(
            matrices.reshape(math.prod(matrices.shape[:-2]), self._n * self._n),
            np.atleast_2d(upper),
            np.atleast_2d(lower),
            strict=True,
        ):
            flat[self._lower] = seen_below
            flat[self._upper] = seen_above


def reorder(matrices: NDArray[Any], places: NDArray[np.intp]) -> None:
    """Puts row and column `places[k]` in the place of k, in each of the matrices; changes them.

    Args:
      matrices: (n, n) or (2, n, n), contiguous.
      places: (n,) a permutation.
    """
    n = len(places)
    passing = np.empty((n, n), dtype=matrices.dtype)
    for matrix in matrices if matrices.ndim == 3 else matrices[None]:
        # Indices are in range; to be told so spares numpy a copy.
        np.take(matrix, places, axis=0, out=passing, mode="clip")
        np.take(passing, places, axis=1, out=matrix, mode="clip")
