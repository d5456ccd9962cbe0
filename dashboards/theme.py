"""Colours and type, for light and dark.  What a colour means, `arena.figures.colours` says."""

from __future__ import annotations

import functools

import numpy as np
import streamlit as st
from PIL import Image

from arena.figures import colours

_LIGHT = {
    "primaryColor": colours.BLUE,
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F3F5F8",
    "textColor": "#1B2530",
    "linkColor": "#005E94",
    "borderColor": "#D9DFE6",
    "codeBackgroundColor": "#F6F8FA",
    "dataframeHeaderBackgroundColor": "#F3F5F8",
}
_DARK = {
    "primaryColor": "#3A9BD9",
    "backgroundColor": "#10151C",
    "secondaryBackgroundColor": "#1A212B",
    "textColor": "#E6EBF1",
    "linkColor": "#7CC4F2",
    "borderColor": "#2D3743",
    "codeBackgroundColor": "#161D26",
    "dataframeHeaderBackgroundColor": "#1A212B",
}
_BOTH = {
    "baseRadius": "0.4rem",
    "paddingTop": "3.75rem",
    "baseFontSize": 15,
    "metricValueFontSize": "1.5rem",
    "headingFontWeights": [650, 600, 600, 600, 600, 600],
}


def options() -> dict[str, object]:
    """Streamlit's options of the theme.  Light or dark follows the visitor's system."""
    found: dict[str, object] = {f"theme.{name}": value for name, value in _BOTH.items()}
    for side, palette in (("light", _LIGHT), ("dark", _DARK)):
        found |= {f"theme.{side}.{name}": colour for name, colour in palette.items()}
    return found


def is_dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


@functools.cache
def icon() -> Image.Image:
    """The browser tab's picture: two policies across a board."""
    picture = np.zeros((32, 32, 4), dtype=np.uint8)
    y, x = np.mgrid[:32, :32]
    for colour, centre in ((colours.GAIN, (10, 10)), (colours.LOSS, (21, 21))):
        rgb = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        picture[np.hypot(x - centre[0], y - centre[1]) < 9] = (*rgb, 255)
    return Image.fromarray(picture)
