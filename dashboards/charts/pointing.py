"""Pictures that tell what is under the pointer: HTML of ours over a grid of numbers.

A chart library would do it too, after several megabytes that a new browser loads and compiles
before it shows anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from arena.figures.picture import Picture

_FOLDER = Path(__file__).parent
_POINTED = st.components.v2.component(
    "pointed",
    html='<div class="pointed"></div>',
    css=(_FOLDER / "pointing.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "pointing.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # a page's text can be searched and read aloud
)


def pointed(
    picture: Picture,
    *,
    key: str,
    on_pick: Callable[[int, int], None] | None = None,
    address: Mapping[str, str] | None = None,
) -> None:
    """Draws it.

    Args:
      picture: what.
      key: of the element on its page.
      on_pick: called before the page is drawn again, with row and column of a clicked cell.
      address: parameters that the page's address has from now on, without a step in the browser's
        history: what is moved through has too many steps for that.
    """

    def picked() -> None:
        # A browser can send anything.
        match st.session_state[key].get("picked"):
            case [int(row), int(column)] if on_pick:
                if 0 <= row < len(picture.rows) and 0 <= column < len(picture.columns):
                    on_pick(row, column)

    document = picture.document(on_pick is not None) | {"address": dict(address or {})}
    _POINTED(key=key, data=document, on_picked_change=picked)
