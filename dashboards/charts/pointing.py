"""Pictures that tell what is under the pointer: HTML of ours over a grid of numbers.

A chart library would do it too, after several megabytes that a new browser loads and compiles
before it shows anything.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

_FOLDER = Path(__file__).parent
_POINTED = st.components.v2.component(
    "pointed",
    html='<div class="pointed"></div>',
    css=(_FOLDER / "pointing.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "pointing.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # a page's text can be searched and read aloud
)


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
      html: the drawing, with everything in it escaped; the one element of class
        `pointed-surface` is cut into the cells.
      rows, columns: names of the cells.
      layers: the numbers that are told.
      told: the text about a cell, with {row}, {column}, and {0}, {1}, ... for the layers; or the
        texts of all cells, row by row.
      missing: the text for cells without any number; "" where there are none.
    """

    html: str
    rows: Sequence[str]
    columns: Sequence[str]
    layers: Sequence[Layer]
    told: str | Sequence[str]
    missing: str = ""

    def document(self, picks: bool) -> dict[str, Any]:
        """What the browser is sent; `picks`: whether it reports cells that are clicked.

        Raises:
          ValueError: a layer, or the texts, are not as many as the cells.
        """
        shape = (len(self.rows), len(self.columns))
        for layer in self.layers:
            if layer.values.shape != shape:
                raise ValueError(f"a layer of {layer.values.shape} over a grid of {shape}")
        if not isinstance(self.told, str) and len(self.told) != shape[0] * shape[1]:
            raise ValueError(f"{len(self.told)} texts for a grid of {shape}")
        return {
            "html": self.html,
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


def pointed(
    picture: Picture, *, key: str, on_pick: Callable[[int, int], None] | None = None
) -> None:
    """Draws it.

    Args:
      picture: what.
      key: of the element on its page.
      on_pick: called before the page is drawn again, with row and column of a clicked cell.
    """

    def picked() -> None:
        # A browser can send anything.
        match st.session_state[key].get("picked"):
            case [int(row), int(column)] if on_pick:
                if 0 <= row < len(picture.rows) and 0 <= column < len(picture.columns):
                    on_pick(row, column)

    _POINTED(key=key, data=picture.document(on_pick is not None), on_picked_change=picked)
