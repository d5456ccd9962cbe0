"""The running score of a match."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboards import theme
from dashboards.charts.figure import bare
from dashboards.text import in_html


def running_score(
    totals: Sequence[float], steps: str, unit: str, *, at: int, winner_up: str
) -> go.Figure:
    """Score of seat 0 after each throw or hand.

    Args:
      totals: (n,) after step 1, 2, ...
      steps: what a step is, "throw" or "hand".
      unit: of the score.
      at: step to mark, from 1.
      winner_up: who is ahead where the line is above 0.
    """
    figure = bare(230)
    places = list(range(len(totals) + 1))
    values = [0.0, *totals]
    for sign, colour in ((1.0, theme.GAIN), (-1.0, theme.LOSS)):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=[value if value * sign > 0 else 0.0 for value in values],
                fill="tozeroy",
                mode="none",
                fillcolor=_faded(colour),
                hoverinfo="skip",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=places,
            y=values,
            mode="lines",
            line={"color": theme.GREY, "width": 1.8},
            hovertemplate=f"{steps} %{{x}}: %{{y:+.0f}} {in_html(unit)}<extra></extra>",
        )
    )
    figure.add_vline(at, line={"color": theme.PINK, "width": 1.6})
    figure.add_hline(0, line={"color": theme.faint(), "width": 1})
    figure.update_xaxes(title=steps, showgrid=False, range=[0, max(len(totals), 1)])
    figure.update_yaxes(title=f"{in_html(winner_up)} ahead", zeroline=False)
    return figure


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.28)"
