"""Numbers with their 95 % intervals, one line each, drawn with nothing but HTML.

The first page that people see has one of these.  A chart library would be several megabytes that
a new browser loads and compiles before it shows anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.analysis.estimates import Estimate
from dashboards import theme
from dashboards.charts.scale import Scale
from dashboards.text import in_html, number

ROW_PIXELS = 22
DOT_PIXELS = 9
_FAINT = "color-mix(in srgb, currentColor 14%, transparent)"
_INK = "color-mix(in srgb, currentColor 55%, transparent)"


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
) -> str:
    """A forest plot as HTML, as wide as there is room.

    Args:
      lines: from top to bottom.
      axis: title of the x axis.
      references: dotted vertical lines, numbered in the order of their values.
    """
    height = ROW_PIXELS * len(lines)
    scale = Scale(*_span(lines, references))
    labels = "".join(
        f'<div style="height:{ROW_PIXELS}px;overflow:hidden;text-overflow:ellipsis">'
        f"{in_html(line.label)}</div>"
        for line in lines
    )
    values = "".join(
        f'<div style="height:{ROW_PIXELS}px">{number(line.estimate.value)}</div>' for line in lines
    )
    rows = "".join(_row(place, line, scale) for place, line in enumerate(lines))
    column = f"line-height:{ROW_PIXELS}px;white-space:nowrap;font-size:.8rem"
    return (
        '<div style="display:grid;grid-template-columns:fit-content(38%) minmax(0,1fr) auto;'
        'column-gap:.7rem;margin-top:1.2rem">'
        f'<div style="{column};min-width:0;text-align:right">{labels}</div>'
        f'<div style="position:relative;height:{height}px">'
        f"{_ticks(scale)}{_references(references, scale)}{rows}</div>"
        f'<div style="{column};text-align:right;font-variant-numeric:tabular-nums">{values}</div>'
        '<div></div><div style="font-size:.75rem;text-align:center;opacity:.75;'
        f'margin-top:1.5rem">{in_html(axis)}</div></div>'
    )


def _row(place: int, line: Line, scale: Scale) -> str:
    """The interval with its ends, and the number as a dot."""
    estimate, top = line.estimate, ROW_PIXELS * place
    told = (
        f"{line.label}: {number(estimate.value)}, "
        f"95 %: {number(estimate.low)} to {number(estimate.high)}"
    )
    drawn = dot = ""
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        left, right = scale.at(estimate.low), scale.at(estimate.high)
        where = f"position:absolute;left:{left:.2f}%;width:{right - left:.2f}%"
        middle = ROW_PIXELS // 2
        drawn = (
            f'<div style="{where};top:{middle - 1}px;height:2px;background:{_INK}"></div>'
            f'<div style="{where};top:{middle - 4}px;height:8px;box-sizing:border-box;'
            f'border:solid {_INK};border-width:0 2px"></div>'
        )
    if math.isfinite(estimate.value):
        at, above = scale.at(estimate.value), (ROW_PIXELS - DOT_PIXELS) / 2
        dot = (
            f'<div style="position:absolute;left:{at:.2f}%;top:{above}px;'
            f"width:{DOT_PIXELS}px;height:{DOT_PIXELS}px;margin-left:-{DOT_PIXELS / 2}px;"
            f'border-radius:50%;background:{line.colour}"></div>'
        )
    return (
        f'<div title="{in_html(told)}" style="position:absolute;left:0;right:0;top:{top}px;'
        f'height:{ROW_PIXELS}px">{drawn}{dot}</div>'
    )


def _ticks(scale: Scale) -> str:
    drawn = []
    for value in scale.ticks():
        colour = _INK if value == 0 else _FAINT
        drawn.append(
            f'<div style="position:absolute;left:{scale.at(value):.2f}%;top:0;bottom:-4px;'
            f'border-left:1px solid {colour}"></div>'
            f'<div style="position:absolute;left:{scale.at(value):.2f}%;bottom:-1.4rem;'
            f'transform:translateX(-50%);font-size:.75rem;opacity:.75">{value:,g}</div>'
        )
    return "".join(drawn)


def _references(references: Sequence[Reference], scale: Scale) -> str:
    ordered = sorted(references, key=lambda one: one.value)
    return "".join(
        f'<div title="{in_html(one.label)}: {one.value:.1f}" style="position:absolute;'
        f"left:{scale.at(one.value):.2f}%;top:0;bottom:0;border-left:2px dotted {theme.PINK}"
        '"></div>'
        f'<div style="position:absolute;left:{scale.at(one.value):.2f}%;top:-1.2rem;'
        f'transform:translateX(-50%);font-size:.75rem;color:{theme.PINK}">{place}</div>'
        for place, one in enumerate(ordered, start=1)
    )


def _span(lines: Sequence[Line], references: Sequence[Reference]) -> tuple[float, float]:
    """Room for all numbers and for intervals of a usual width; longer ones are cut."""
    values = [line.estimate.value for line in lines] + [one.value for one in references]
    values = [value for value in values if math.isfinite(value)]
    if not values:
        return (-1.0, 1.0)
    spread = max(max(values) - min(values), 1.0)
    ends = [end for line in lines for end in (line.estimate.low, line.estimate.high)]
    ends = [end for end in ends if math.isfinite(end)]
    low = max(min([*values, *ends]), min(values) - spread)
    high = min(max([*values, *ends]), max(values) + spread)
    room = 0.04 * max(high - low, 1.0)
    return (low - room, high + room)
