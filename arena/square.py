"""Values of pairs as square matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


class Square:
    """Spreads values of p pairs, (p,) or (2, p), over square matrices, (n, n) or (2, n, n)."""

    def __init__(self, n: int, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> None:
        self._n = n
        # One flat index into a matrix is twice as fast as two.
        self._upper = rows * n + columns
        self._lower = columns * n + rows

    def floats(self, upper: Floats, lower: Floats) -> Floats:
        """Values of each pair, as the first and as the second of it sees them; NaN elsewhere."""
        matrix = np.full((*upper.shape[:-1], self._n * self._n), np.nan)
        matrix[..., self._lower] = lower
        matrix[..., self._upper] = upper
        matrix[..., :: self._n + 1] = 0.0
        return matrix.reshape(*upper.shape[:-1], self._n, self._n)

    def counts(self, upper: Floats, lower: Floats) -> Counts:
        """The same of whole numbers; 0 elsewhere."""
        matrix = np.zeros((*upper.shape[:-1], self._n * self._n), dtype=np.int32)
        matrix[..., self._lower] = lower
        matrix[..., self._upper] = upper
        return matrix.reshape(*upper.shape[:-1], self._n, self._n)
