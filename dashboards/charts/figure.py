"""What all figures share: little ink, room for a phone, colours from the theme."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d", "toImage"],
    "scrollZoom": False,
}
"""Of every chart on a page."""


def bare(height: int, **layout: Any) -> go.Figure:
    """An empty figure of that height in pixels; `layout` overrides."""
    settings: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "showlegend": False,
        "hoverlabel": {"align": "left"},
        "dragmode": False,
    }
    figure = go.Figure()
    figure.update_layout(**(settings | layout))
    figure.update_xaxes(automargin=True, fixedrange=True)
    figure.update_yaxes(automargin=True, fixedrange=True)
    return figure
