"""The frame around a chart: axes, ticks and a legend, as HTML that is as wide as there is room.

Charts are cut into columns of equal width, one for each throw, hand or iteration; places on the
x axis are counted in columns from the left border, and the middle of column i is i + 0.5.  The
markup is in `frame.j2`: templates of charts put what they draw into its macro `chart`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.figures.scale import Scale

MOST_NAMED = 12
"""Columns that are named below the x axis."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is around a drawing.

    Attributes:
      columns: names of the columns.
      up: scale of the y axis.
      title: of the y axis, written above it.
      axis: what the columns are.
      described: what the chart shows, for those who cannot see it.
      height: of the drawing, in pixels.
      percent: whether the y axis counts in hundredths.
    """

    columns: Sequence[str]
    up: Scale
    title: str
    axis: str
    described: str
    height: int = 260
    percent: bool = False

    def y(self, value: float) -> float:
        """Place of a number from the top, in percent; SVG counts from there."""
        return 100.0 - self.up.at(value)

    def x(self, place: float) -> float:
        """Place of a number of columns from the left, in percent."""
        return 100.0 * place / len(self.columns)

    def at(self, place: float, value: float) -> tuple[str, str]:
        """Where a mark stands, as it is written: from the left and from the top, in percent."""
        return f"{self.x(place):.2f}", f"{self.y(value):.2f}"

    def grid(self) -> list[tuple[str, float]]:
        """Horizontal lines: place from the top in percent, and how opaque."""
        return [(f"{self.y(value):.2f}", 1.0 if value == 0 else 0.3) for value in self.up.ticks()]

    def numbers(self) -> list[tuple[str, str]]:
        """What stands beside them: place from the top in percent, and text."""
        return [
            (f"{self.y(value):.2f}", f"{100 * value:g} %" if self.percent else f"{value:,g}")
            for value in self.up.ticks()
        ]

    def names(self) -> list[tuple[str, str]]:
        """What stands below: place from the left in percent, and name of the column."""
        last = len(self.columns) - 1
        step = next(
            unit * ten
            for ten in (1, 10, 100, 1000, 10_000, 100_000)
            for unit in (1, 2, 5)
            if last / (unit * ten) <= MOST_NAMED
        )
        return [
            (f"{self.x(place + 0.5):.2f}", self.columns[place])
            for place in range(0, last + 1, step)
        ]
