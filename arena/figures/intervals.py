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
from typing import TYPE_CHECKING, NamedTuple

from arena.analysis.estimates import Estimate
from arena.figures import colours
from arena.figures.picture import Picture
from arena.figures.scale import Scale
from arena.figures.templates import fill
from arena.figures.text import number
from registry.display import shown

if TYPE_CHECKING:
    from markupsafe import Markup

APART = 7.0
"""Least distance of the numbers of references, in percent of the width: 13 pixels on a phone."""
MOST_REFERENCES = 5
WIDER = 5.0
"""How many times wider one more line may make the axis before it counts as far away."""


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
) -> Markup:
    """A forest plot as HTML, as wide as there is room.

    An interval that reaches beyond the axis ends in an arrow there instead of a bar.

    Args:
      lines: from top to bottom.
      axis: title of the x axis.
      references: dotted vertical lines, numbered in the order of their values; all get room.
    """
    return _plot(lines, axis, references, described="")


def interval_plot(
    lines: Sequence[Line],
    axis: str,
    *,
    references: Sequence[Reference] = (),
) -> Picture:
    """The same for pages: it tells about the line under the pointer, and is walked by keyboard."""
    described = f"{axis}: {len(lines)} intervals; the arrow keys go from line to line."
    return Picture(
        _plot(lines, axis, references, described),
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


class _Bar(NamedTuple):
    """An interval: its place and width in percent, and whether the axis ends before it does."""

    left: str
    width: str
    left_cut: bool
    right_cut: bool


class _Drawn(NamedTuple):
    """A line as the template has it; no bar, and no dot, where its numbers are not known."""

    label: str
    value: str
    told: str
    colour: str
    bar: _Bar | None
    dot: str | None


def _plot(
    lines: Sequence[Line], axis: str, references: Sequence[Reference], described: str
) -> Markup:
    scale = Scale(*_span(lines, [one.value for one in references]))
    ordered = sorted(references, key=lambda one: one.value)
    return fill(
        "arena/figures/intervals.j2",
        "plot",
        described=described,
        axis=axis,
        lines=[_drawn(line, scale) for line in lines],
        ticks=[(f"{scale.at(one):.2f}", f"{one:,g}", one == 0) for one in scale.ticks()],
        references=[
            (f"{scale.at(one.value):.2f}", f"{one.label}: {number(one.value)}") for one in ordered
        ],
        numbers=_numbered([scale.at(one.value) for one in ordered]),
    )


def _drawn(line: Line, scale: Scale) -> _Drawn:
    estimate, bar, dot = line.estimate, None, None
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        left, right = scale.at(estimate.low), scale.at(estimate.high)
        cut = (estimate.low < scale.low, estimate.high > scale.high)
        bar = _Bar(f"{left:.2f}", f"{right - left:.2f}", *cut)
    if math.isfinite(estimate.value):
        dot = f"{scale.at(estimate.value):.2f}"
    return _Drawn(line.label, number(estimate.value), _told(line), line.colour, bar, dot)


def _numbered(places: Sequence[float]) -> list[tuple[str, str]]:
    """Numbers of references, from 1: where they are written, in percent, and what.

    Lines that nearly coincide share one label, which would be written twice in one place.
    """
    labels: list[tuple[float, str]] = []
    for place, at in enumerate(places, start=1):
        if labels and at - labels[-1][0] < APART:
            labels[-1] = (labels[-1][0], f"{labels[-1][1]}, {place}")
        else:
            labels.append((at, str(place)))
    return [(f"{at:.2f}", text) for at, text in labels]


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
