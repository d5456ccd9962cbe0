"""Rows of numbers that wrap on a phone."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

WIDTH_PIXELS = 160
"""Seven of them fit on a laptop side by side, two on a phone."""


def tiles(values: Mapping[str, str], notes: Mapping[str, str] | None = None) -> None:
    """Draws labelled numbers side by side.

    Args:
      values: label to number.
      notes: label to a line below the number, such as its interval.
    """
    notes = notes or {}
    with st.container(horizontal=True, gap="small"):
        for label, value in values.items():
            st.metric(
                label,
                value,
                delta=notes.get(label),
                delta_color="off",
                delta_arrow="off",
                border=True,
                width=WIDTH_PIXELS,
            )
