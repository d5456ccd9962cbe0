"""A drawing that is cut into cells, and what is told about each of them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.figures.templates import fill
from arena.figures.text import number, signed

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_TOLD = 10_000
"""Cells that a drawing by itself tells about."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One number of every cell.

    Attributes:
      values: (rows, columns); nan in the first layer for cells without any number.
      digits: behind the point.
      signed: whether gains have a plus.
    """

    values: np.ndarray
    digits: int = 1
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and what is told about its cells.

    Attributes:
      html: the drawing; its one element of class `pointed-surface` (the macro `surface` of
        `picture.j2`) is cut into the cells.
      rows, columns: names of the cells.
      layers: the numbers that are told.
      told: the text about a cell, with {row}, {column}, and {0}, {1}, ... for the layers; or the
        texts of all cells, row by row.
      missing: the text for cells without any number; "" where there are none.
    """

    html: Markup
    rows: Sequence[str]
    columns: Sequence[str]
    layers: Sequence[Layer]
    told: str | Sequence[str]
    missing: str = ""

    def document(self, picks: bool) -> dict[str, Any]:
        """What a browser is sent that tells about cells itself.

        Args:
          picks: whether it reports cells that are clicked.

        Raises:
          ValueError: a layer, or the texts, are not as many as the cells.
        """
        self._check()
        return {
            "html": str(self.html),
            "rows": list(self.rows),
            "columns": list(self.columns),
            "layers": [
                {
                    "values": base64.b64encode(layer.values.astype("<f4").tobytes()).decode(),
                    "digits": layer.digits,
                    "signed": layer.signed,
                }
                for layer in self.layers
            ],
            "told": self.told if isinstance(self.told, str) else list(self.told),
            "missing": self.missing,
            "picks": picks,
        }

    def alone(self) -> Markup:
        """The drawing for where nothing can run, as in a report or a notebook.

        What is told about a cell is its title, which browsers show at the pointer; not where there
        are more than `MOST_TOLD` cells.

        Raises:
          ValueError: a layer, or the texts, are not as many as the cells.
        """
        self._check()
        count = len(self.rows) * len(self.columns)
        if not count or count > MOST_TOLD:
            return self.html
        # Quotes in what is put into a drawing are escaped, so no name looks like the class.
        before, surface, after = self.html.partition('class="pointed-surface"')
        opening, bracket, inside = after.partition(">")
        return fill(
            "arena/figures/picture.j2",
            "with_cells",
            before=before + surface + opening + bracket,
            inside=inside,
            rows=len(self.rows),
            columns=len(self.columns),
            texts=[
                self._text(row, column)
                for row in range(len(self.rows))
                for column in range(len(self.columns))
            ],
        )

    def _check(self) -> None:
        shape = (len(self.rows), len(self.columns))
        for layer in self.layers:
            if layer.values.shape != shape:
                raise ValueError(f"a layer of {layer.values.shape} over a grid of {shape}")
        if not isinstance(self.told, str) and len(self.told) != shape[0] * shape[1]:
            raise ValueError(f"{len(self.told)} texts for a grid of {shape}")

    def _text(self, row: int, column: int) -> str:
        """What is told about one cell."""
        if not isinstance(self.told, str):
            return self.told[row * len(self.columns) + column]
        names = {"row": self.rows[row], "column": self.columns[column]}
        numbers = [float(layer.values[row, column]) for layer in self.layers]
        if numbers and numbers[0] != numbers[0]:
            return self.missing.format(**names)
        texts = [
            (signed if layer.signed else number)(value, layer.digits)
            for layer, value in zip(self.layers, numbers, strict=True)
        ]
        return self.told.format(*texts, **names)
