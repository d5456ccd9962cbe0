"""Numbers with their 95 % intervals, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from arena.analysis.estimates import Estimate
from dashboards import theme
from dashboards.charts.figure import bare
from dashboards.text import in_html, number

ROW_PIXELS = 22
MARGIN_PIXELS = 64


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a label, its number, and a colour."""

    label: str
    estimate: Estimate
    colour: str = theme.BLUE


@dataclass(frozen=True, slots=True)
class Reference:
    """A vertical line to compare with."""

    label: str
    value: float


def intervals(
    lines: Sequence[Line],
    axis: str,
    *,
    references: Sequence[Reference] = (),
    span: tuple[float, float] | None = None,
) -> go.Figure:
    """A forest plot.

    Args:
      lines: from top to bottom.
      axis: title of the x axis.
      references: dashed vertical lines, numbered in the order of their values.
      span: x range; intervals that reach farther are cut.  By default what the numbers need.
    """
    figure = bare(MARGIN_PIXELS + ROW_PIXELS * max(len(lines), 2) + (18 if references else 0))
    places = list(range(len(lines)))
    low, high = span or _span(lines, references)
    estimates = [line.estimate for line in lines]
    figure.add_trace(
        go.Scatter(
            x=[estimate.value for estimate in estimates],
            y=places,
            mode="markers",
            marker={"size": 9, "color": [line.colour for line in lines]},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_reach(min(e.high, high) - e.value) for e in estimates],
                "arrayminus": [_reach(e.value - max(e.low, low)) for e in estimates],
                "thickness": 1.6,
                "width": 4,
                "color": theme.GREY,
            },
            customdata=[
                (in_html(line.label), number(line.estimate.low), number(line.estimate.high))
                for line in lines
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{x:.1f}   "
            "95 %: %{customdata[1]} to %{customdata[2]}<extra></extra>",
        )
    )
    for place, reference in enumerate(sorted(references, key=lambda one: one.value), start=1):
        figure.add_vline(reference.value, line={"dash": "dot", "width": 1.4, "color": theme.PINK})
        figure.add_annotation(
            x=reference.value,
            y=1.0,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            text=str(place),
            hovertext=f"{in_html(reference.label)}: {reference.value:.1f}",
            font={"size": 11, "color": theme.PINK},
        )
    if low < 0 < high:
        figure.add_vline(0, line={"width": 1, "color": theme.faint()})
    figure.update_xaxes(title=axis, range=[low, high], zeroline=False)
    figure.update_yaxes(
        tickvals=places,
        ticktext=[in_html(line.label) for line in lines],
        range=[len(lines) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    if references:
        figure.update_layout(margin={"t": 24})
    return figure


def _reach(width: float) -> float:
    return max(width, 0.0) if width == width else 0.0


def _span(lines: Sequence[Line], references: Sequence[Reference]) -> tuple[float, float]:
    """Room for all numbers and for intervals of a usual width."""
    values = [line.estimate.value for line in lines] + [one.value for one in references]
    if not values:
        return (-1.0, 1.0)
    spread = max(max(values) - min(values), 1.0)
    ends = [end for line in lines for end in (line.estimate.low, line.estimate.high) if end == end]
    low = max(min([*values, *ends]), min(values) - spread)
    high = min(max([*values, *ends]), max(values) + spread)
    room = 0.04 * max(high - low, 1.0)
    return (low - room, high + room)
