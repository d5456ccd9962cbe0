"""Colours and type, for light and dark.  What a colour means, `arena.figures.colours` says."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import streamlit as st
from PIL import Image

from arena.figures import colours

_LIGHT = {
    "primaryColor": colours.BLUE,
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F3F5F8",
    "textColor": "#0A1119",  # captions are 60 % of it, and need 4.5 : 1 on both grounds
    "linkColor": "#005E94",
    "codeTextColor": "#0A1119",
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
    "codeTextColor": "#E6EBF1",
    "borderColor": "#2D3743",
    "codeBackgroundColor": "#161D26",
    "dataframeHeaderBackgroundColor": "#1A212B",
}
_LIGHT_STYLE = """
code .token:is(.keyword, .class-name, .function, .parameter) { color: #0B5FA5 !important; }
code .token:is(.string) { color: #0A6B2B !important; }
code .token:is(.number, .boolean) { color: #0F695B !important; }
code .token:is(.operator, .decorator) { color: #9A4300 !important; }
code .token:is(.comment, .punctuation):not(.decorator) { color: #5A616B !important; }
code .linenumber { color: #5A616B !important; }
"""
_DARK_STYLE = """
code .token:is(.keyword, .class-name, .function, .parameter) { color: #5FB0F5 !important; }
code .linenumber, code .token:is(.comment, .punctuation) { color: #98A1AD !important; }
[data-tag], [data-tag] button, button[kind^="primary"] { color: #10151C !important; }
"""
"""What no option of Streamlit reaches, and has less contrast than 4.5 : 1 without: words in
programs, and what stands on the primary colour."""
_NARROW_STYLE = """
@media (max-width: 640px) {
  [data-testid="stCode"] :is(pre, code, span) {
    white-space: pre-wrap !important;
    overflow-wrap: anywhere;
  }
}
"""
"""On a phone long lines of a program go on below: no key scrolls them sideways."""
_UNSEEN_STYLE = "div:has(> :is(.st-key-steps, .st-key-turns)) { display: none; }"
"""What counts a visitor's steps (`navigate`), and what follows the theme, have nothing to show;
what is around each of them would still keep a distance."""
_TURNS = st.components.v2.component(
    "turns",
    html="<div></div>",
    js=Path(__file__).with_name("theme.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_BOTH = {
    "baseRadius": "0.4rem",
    "paddingTop": "3.75rem",
    "baseFontSize": 15,
    "metricValueFontSize": "1.5rem",
    "headingFontWeights": [650, 600, 600, 600, 600, 600],
    "headingFontSizes": ["2.75rem", "1.6rem", "1.2rem", "1.1rem", "1rem", "1rem"],
}


def options() -> dict[str, object]:
    """Streamlit's options of the theme.  Light or dark follows the visitor's system."""
    found: dict[str, object] = {f"theme.{name}": value for name, value in _BOTH.items()}
    for side, palette in (("light", _LIGHT), ("dark", _DARK)):
        found |= {f"theme.{side}.{name}": colour for name, colour in palette.items()}
    return found


def style() -> str:
    """A style element for every page."""
    return (
        f"<style>{_DARK_STYLE if is_dark() else _LIGHT_STYLE}{_NARROW_STYLE}{_UNSEEN_STYLE}</style>"
    )


def follow() -> None:
    """An open page is drawn anew when the visitor's system turns dark, or light again."""
    with st.container(key="turns"):
        _TURNS(key="turns_of_the_theme", on_turned_change=lambda: None)


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
