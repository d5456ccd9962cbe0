"""Numbers with their 95 % intervals, one line each, drawn with nothing but HTML.

The first page that people see has one of these.  A chart library would be several megabytes that
a new browser loads and compiles before it shows anything.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from arena.analysis.estimates import Estimate
from arena.figures import colours
from arena.figures.picture import Picture
from arena.figures.scale import Scale
from arena.figures.text import in_html, number
from registry.display import shown

ROW_PIXELS = 22
DOT_PIXELS = 9
ARROW_PIXELS = 5
APART = 7.0
"""Least distance of the numbers of references, in percent of the width: 13 pixels on a phone."""
MOST_REFERENCES = 5
WIDER = 5.0
"""How many times wider one more line may make the axis before it counts as far away."""
_FAINT = "color-mix(in srgb, currentColor 14%, transparent)"
_INK = "color-mix(in srgb, currentColor 55%, transparent)"
_ARROW = "color-mix(in srgb, currentColor 75%, transparent)"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a label, its number, and a colour."""

    label: str
    estimate: Estimate
    colour: str = colours.BLUE

    @classmethod
    def of_return(cls, label: str, estimate: Estimate) -> Line:
        """A mean return, coloured by who wins."""
        return cls(label, estimate, colours.GAIN if estimate.value > 0 else colours.LOSS)


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

    An interval that reaches beyond the axis ends in an arrow there instead of a bar.

    Args:
      lines: from top to bottom.
      axis: title of the x axis.
      references: dotted vertical lines, numbered in the order of their values; all get room.
    """
    return _plot(lines, axis, references, "")


def interval_plot(
    lines: Sequence[Line],
    axis: str,
    *,
    references: Sequence[Reference] = (),
) -> Picture:
    """The same for pages: it tells about the line under the pointer, and is walked by keyboard."""
    described = f"{axis}: {len(lines)} intervals; the arrow keys go from line to line."
    surface = f'class="pointed-surface" tabindex="0" role="img" aria-label="{in_html(described)}" '
    return Picture(
        _plot(lines, axis, references, surface),
        [shown(line.label) for line in lines],
        [axis],
        [],
        [_told(line) for line in lines],
    )


def _told(line: Line) -> str:
    estimate = line.estimate
    return (
        f"{shown(line.label)}: {number(estimate.value)}, "
        f"95 %: {number(estimate.low)} to {number(estimate.high)}"
    )


def _plot(lines: Sequence[Line], axis: str, references: Sequence[Reference], surface: str) -> str:
    """The plot; `surface` are attributes of the element that its rows stand in."""
    height = ROW_PIXELS * len(lines)
    scale = Scale(*_span(lines, [one.value for one in references]))
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
        f'<div {surface}style="position:relative;height:{height}px">'
        f"{_ticks(scale)}{_references(references, scale)}{rows}</div>"
        f'<div style="{column};text-align:right;font-variant-numeric:tabular-nums">{values}</div>'
        '<div></div><div style="font-size:.75rem;text-align:center;opacity:.75;'
        f'margin-top:1.5rem">{in_html(axis)}</div></div>'
    )


def _row(place: int, line: Line, scale: Scale) -> str:
    """The interval with its ends, and the number as a dot."""
    estimate, top = line.estimate, ROW_PIXELS * place
    drawn = dot = ""
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        left, right = scale.at(estimate.low), scale.at(estimate.high)
        where = f"position:absolute;left:{left:.2f}%;width:{right - left:.2f}%"
        middle = ROW_PIXELS // 2
        cut = (estimate.low < scale.low, estimate.high > scale.high)
        left_bar, right_bar = ("0" if end else "2px" for end in cut)
        drawn = (
            f'<div style="{where};top:{middle - 1}px;height:2px;background:{_INK}"></div>'
            f'<div style="{where};top:{middle - 4}px;height:8px;box-sizing:border-box;'
            f'border:solid {_INK};border-width:0 {right_bar} 0 {left_bar}"></div>'
            + "".join(_arrow(side) for side, end in zip(_SIDES, cut, strict=True) if end)
        )
    if math.isfinite(estimate.value):
        at, above = scale.at(estimate.value), (ROW_PIXELS - DOT_PIXELS) / 2
        dot = (
            f'<div style="position:absolute;left:{at:.2f}%;top:{above}px;'
            f"width:{DOT_PIXELS}px;height:{DOT_PIXELS}px;margin-left:-{DOT_PIXELS / 2}px;"
            f'border-radius:50%;background:{line.colour}"></div>'
        )
    return (
        f'<div title="{in_html(_told(line))}" style="position:absolute;left:0;right:0;top:{top}px;'
        f'height:{ROW_PIXELS}px">{drawn}{dot}</div>'
    )


_SIDES = ("left", "right")


def _arrow(side: str) -> str:
    """The head of an arrow at a border of the chart: the interval goes on beyond it."""
    back = _SIDES[side == "left"]
    return (
        f'<div style="position:absolute;{side}:0;top:{ROW_PIXELS // 2 - ARROW_PIXELS}px;'
        f"width:0;height:0;border:{ARROW_PIXELS}px solid transparent;border-{side}-width:0;"
        f'border-{back}:{1.6 * ARROW_PIXELS:.0f}px solid {_ARROW}"></div>'
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
    lines = "".join(
        f'<div title="{in_html(one.label)}: {number(one.value)}" style="position:absolute;'
        f"left:{scale.at(one.value):.2f}%;top:0;bottom:0;border-left:2px dotted {colours.PINK}"
        '"></div>'
        for one in ordered
    )
    # Lines that nearly coincide share one label, which would be written twice in one place.
    labels: list[tuple[float, str]] = []
    for place, one in enumerate(ordered, start=1):
        at, text = scale.at(one.value), str(place)
        if labels and at - labels[-1][0] < APART:
            at, text = labels[-1][0], f"{labels[-1][1]}, {place}"
            labels.pop()
        labels.append((at, text))
    return lines + "".join(
        f'<div style="position:absolute;left:{at:.2f}%;top:-1.2rem;'
        f'transform:translateX(-50%);font-size:.75rem;color:{colours.ink(colours.PINK)}">{text}</div>'
        for at, text in labels
    )


def comparable(lines: Sequence[Line], *, smallest_first: bool = False) -> list[Line]:
    """The lines that one axis can show without making those at the top one blob.

    The two best are always among them.  From there on down, a line is far away, and so are those
    below it, where it would make the axis `WIDER` times as wide as it is for those above.

    Args:
      lines: in any order; those without a number are left out.
      smallest_first: whether small numbers are the good ones.
    """
    sign = -1.0 if smallest_first else 1.0
    known = [line for line in lines if math.isfinite(line.estimate.value)]
    ordered = sorted((sign * line.estimate.value for line in known), reverse=True)
    usual = max(_usual_width(known), 1.0)
    last = min(1, len(ordered) - 1)
    for place in range(2, len(ordered)):
        if ordered[0] - ordered[place] > WIDER * max(ordered[0] - ordered[last], usual):
            break
        last = place
    return [line for line in known if sign * line.estimate.value >= ordered[last]]


def _usual_width(lines: Sequence[Line]) -> float:
    """Median width of the intervals that are known; 0 where none is."""
    widths = [line.estimate.high - line.estimate.low for line in lines]
    return statistics.median_low([width for width in widths if math.isfinite(width)] or [0.0])


def fitting(lines: Sequence[Line], references: Sequence[Reference]) -> list[Reference]:
    """The references that can stand beside some lines, at most `MOST_REFERENCES`.

    Those come first that are first in `references`.  Left out is what lies farther from the lines
    than half of their span, so that the lines keep half of the width, and what lies so close to
    another one that their numbers would overlap.
    """
    low, high = _span(lines, ())
    reach = (high - low) / 2
    chosen: list[Reference] = []
    for one in references:
        if not low - reach <= one.value <= high + reach or len(chosen) == MOST_REFERENCES:
            continue
        scale = Scale(*_span(lines, [other.value for other in (*chosen, one)]))
        places = sorted(scale.at(other.value) for other in (*chosen, one))
        if all(b - a >= APART for a, b in itertools.pairwise(places)):
            chosen.append(one)
    return chosen


def _span(lines: Sequence[Line], besides: Sequence[float]) -> tuple[float, float]:
    """Room for all numbers and for intervals of a usual width; longer ones are cut."""
    values = [line.estimate.value for line in lines if math.isfinite(line.estimate.value)]
    marks = [*values, *(value for value in besides if math.isfinite(value))]
    if not marks:
        return (-1.0, 1.0)
    values = values or marks
    spread = max(max(values) - min(values), _usual_width(lines), 1.0)
    ends = [end for line in lines for end in (line.estimate.low, line.estimate.high)]
    ends = [end for end in ends if math.isfinite(end)]
    low = min(*marks, max(min([*values, *ends]), min(values) - spread))
    high = max(*marks, min(max([*values, *ends]), max(values) + spread))
    room = 0.04 * max(high - low, 1.0)
    return (low - room, high + room)
