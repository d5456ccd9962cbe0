"""The running score of a match, drawn with nothing but SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboards import theme
from dashboards.charts.pointing import Layer, Picture
from dashboards.charts.scale import Scale, round_numbers
from dashboards.text import in_html

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
    room = 0.05 * max(max(values) - min(values), 1.0)
    up = Scale(min(values) - room, max(values) + room)
    html = (
        '<div style="display:grid;grid-template-columns:auto minmax(0,1fr);column-gap:.5rem">'
        f'<div style="grid-column:2;font-size:.8rem;opacity:.75">{in_html(winner_up)} ahead, in '
        f'{in_html(unit)}</div><div style="position:relative;min-width:2.2rem">{_scores(up)}</div>'
        f'<div class="pointed-surface" tabindex="0" role="img" style="height:{HEIGHT_PIXELS}px" '
        f'aria-label="Running score: {values[-1]:+.0f} {in_html(unit)} at the end.">'
        f"{_curve(values, up, at)}</div>"
        '<div style="grid-column:2;position:relative;height:1.3rem">'
        f"{_steps(len(totals), step)}</div></div>"
    )
    columns = ["Beginning", *(f"{step.capitalize()} {place:,}" for place in range(1, len(values)))]
    score = Layer(np.array([values]), digits=0, signed=True)
    return Picture(html, [""], columns, [score], f"{{column}}: {{0}} {unit}")


def _curve(values: Sequence[float], up: Scale, at: int) -> str:
    """The curve over a surface that is as many units wide as it has cells."""
    ground = 100.0 - up.at(0.0)
    points = " ".join(
        f"{place + 0.5:g},{100.0 - up.at(value):.2f}" for place, value in enumerate(values)
    )
    width = len(values)
    line = 'vector-effect="non-scaling-stroke" fill="none"'
    # One area, whose colour changes where the lead does.
    return (
        f'<svg viewBox="0 0 {width} 100" preserveAspectRatio="none" '
        'style="position:absolute;width:100%;height:100%">'
        '<linearGradient id="lead" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="0" y2="100">'
        f'<stop offset="{ground:.2f}%" stop-color="{theme.GAIN}"/>'
        f'<stop offset="{ground:.2f}%" stop-color="{theme.LOSS}"/></linearGradient>'
        f'<polygon points="0.5,{ground:.2f} {points} {width - 0.5:g},{ground:.2f}" '
        'fill="url(#lead)" fill-opacity=".28"/>'
        f'<path d="M0 {ground:.2f}H{width}" stroke="{theme.faint()}" {line}/>'
        f'<path d="M{at + 0.5:g} 0V100" stroke="{theme.PINK}" stroke-width="2" {line}/>'
        f'<polyline points="{points}" stroke="{theme.GREY}" stroke-width="1.8" '
        f'stroke-linejoin="round" {line}/></svg>'
    )


def _scores(up: Scale) -> str:
    return "".join(
        f'<div style="position:absolute;right:0;top:{100.0 - up.at(value):.2f}%;'
        f'transform:translateY(-50%);font-size:.75rem;opacity:.75">{_signed(value)}</div>'
        for value in round_numbers(up.low, up.high)
    )


def _signed(value: float) -> str:
    return f"{value:+,g}" if value else "0"


def _steps(n: int, step: str) -> str:
    ticks = [value for value in round_numbers(0.0, max(float(n), 1.0)) if value]
    return "".join(
        f'<div style="position:absolute;left:{100.0 * (value + 0.5) / (n + 1):.2f}%;'
        f"transform:translateX(-{100 if value == n else 50}%);font-size:.75rem;opacity:.75;"
        f'white-space:nowrap">{f"{step} " if value == ticks[0] else ""}{value:,g}</div>'
        for value in ticks
    )
