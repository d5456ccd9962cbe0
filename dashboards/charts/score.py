"""The running score of a match."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboards import theme
from dashboards.charts.frame import Frame, stroke
from dashboards.charts.pointing import Layer, Picture
from dashboards.charts.scale import Scale

HEIGHT_PIXELS = 190


def running_score(
    totals: Sequence[float], step: str, unit: str, *, at: int, winner_up: str
) -> Picture:
    """Score of seat 0 after each throw or hand; cell i is step i, and cell 0 the beginning.

    Args:
      totals: (n,) after step 1, 2, ...
      step: what a step is, "throw" or "hand".
      unit: of the score.
      at: step to mark, from 1.
      winner_up: who is ahead where the line is above 0.
    """
    values = [0.0, *totals]
    frame = Frame(
        [f"{place:,}" for place in range(len(values))],
        Scale.around(values, room=0.05),
        f"{winner_up} ahead, in {unit}",
        step,
        f"Running score: {values[-1]:+.0f} {unit} at the end.",
        HEIGHT_PIXELS,
    )
    ground, width = frame.y(0.0), len(values)
    points = " ".join(f"{place + 0.5:g},{frame.y(value):.2f}" for place, value in enumerate(values))
    # One area, whose colour changes where the lead does.
    drawing = (
        '<linearGradient id="lead" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="0" y2="100">'
        f'<stop offset="{ground:.2f}%" stop-color="{theme.GAIN}"/>'
        f'<stop offset="{ground:.2f}%" stop-color="{theme.LOSS}"/></linearGradient>'
        f'<polygon points="0.5,{ground:.2f} {points} {width - 0.5:g},{ground:.2f}" '
        'fill="url(#lead)" fill-opacity=".28"/>'
        f'<path d="M{at + 0.5:g} 0V100" {stroke(theme.PINK, 2)}/>'
        f'<polyline points="{points}" {stroke(theme.GREY, 1.8)}/>'
    )
    columns = ["Beginning", *(f"{step.capitalize()} {place:,}" for place in range(1, width))]
    score = Layer(np.array([values]), digits=0, signed=True)
    return Picture(frame.around(drawing), [""], columns, [score], f"{{column}}: {{0}} {unit}")
