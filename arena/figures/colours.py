"""Colours that mean the same in every picture, in light and dark.

The hues are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which readers with any
usual kind of colour vision tell apart; gains are blue and losses orange everywhere.
"""

from __future__ import annotations

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
AMBER = "#E69F00"
SKY = "#56B4E9"
PINK = "#CC79A7"
GREY = "#8A94A0"

GAIN, LOSS = BLUE, ORANGE
"""What somebody won and lost; in a match, seats 0 and 1."""

SEATS = (GAIN, LOSS)
"""Of seats 0 and 1."""
ON_SEATS = ("#FFFFFF", "#101418")
"""Of text on those: 4.5 : 1 or more."""

SERIES = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY, "#7A5C9E", GREY, "#994F00", "#40B0A6")
"""Of series, in the order in which they are given out."""

FAINT = "color-mix(in srgb, currentColor 36%, transparent)"
"""Of grids, on any ground."""


def ink(hue: str) -> str:
    """A hue as the colour of text: 4.5 : 1 or more on a light ground and on a dark one."""
    return f"color-mix(in srgb, {hue} 65%, currentColor)"


def diverging(dark: bool) -> list[tuple[float, str]]:
    """A colour scale from loss over nothing to gain: places in [0, 1] and colours."""
    return [
        (0.0, "#B34700"),
        (0.25, "#E8853B"),
        (0.5, "#1F2833" if dark else "#F7F7F5"),
        (0.75, "#4C9CD0"),
        (1.0, "#00568A"),
    ]


def ramp(dark: bool) -> str:
    """The same as the colours of a gradient in CSS."""
    return ",".join(f"{colour} {100 * place:.0f}%" for place, colour in diverging(dark))
