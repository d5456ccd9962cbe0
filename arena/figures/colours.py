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
