"""The frame around a chart: axes, ticks and a legend, as HTML that is as wide as there is room.

Charts are cut into columns of equal width, one for each throw, hand or iteration; places on the
x axis are counted in columns from the left border, and the middle of column i is i + 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.figures import colours
from arena.figures.scale import Scale
from arena.figures.text import in_html

MOST_NAMED = 12
"""Columns that are named below the x axis."""
LINE = 'vector-effect="non-scaling-stroke" fill="none"'
"""Of every stroke, because drawings are stretched."""
_SMALL = "font-size:.75rem;opacity:.75;white-space:nowrap"


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

    def around(self, drawing: str, *, marks: str = "", legend: str = "") -> str:
        """The chart.

        Args:
          drawing: SVG elements; x counts columns, y percent from the top.
          marks: HTML elements above it, placed in percent.
          legend: HTML below it.
        """
        return (
            '<div style="display:grid;grid-template-columns:auto minmax(0,1fr);column-gap:.5rem">'
            f'<div style="grid-column:2;{_SMALL};margin-bottom:.35rem;overflow:hidden;'
            f'text-overflow:ellipsis">{in_html(self.title)}</div>'
            f'<div style="position:relative;min-width:2.4rem">{self._numbers()}</div>'
            f'<div class="pointed-surface" tabindex="0" role="img" '
            f'style="position:relative;height:{self.height}px" '
            f'aria-label="{in_html(self.described)}">'
            f'<svg viewBox="0 0 {len(self.columns)} 100" preserveAspectRatio="none" '
            'style="position:absolute;width:100%;height:100%;overflow:visible">'
            f"{self._grid()}{drawing}</svg>{marks}</div>"
            f'<div style="grid-column:2;position:relative;height:1.3rem">{self._names()}</div>'
            f'<div style="grid-column:2;{_SMALL};text-align:center">{in_html(self.axis)}</div>'
            f"{legend}</div>"
        )

    def _grid(self) -> str:
        width = len(self.columns)
        return "".join(
            f'<path d="M0 {self.y(value):.2f}H{width}" stroke="{colours.FAINT}" '
            f'stroke-opacity="{1.0 if value == 0 else 0.3}" {LINE}/>'
            for value in self.up.ticks()
        )

    def _numbers(self) -> str:
        return "".join(
            f'<div style="position:absolute;right:0;top:{self.y(value):.2f}%;'
            f'transform:translateY(-50%);{_SMALL}">'
            f"{f'{100 * value:g} %' if self.percent else f'{value:,g}'}</div>"
            for value in self.up.ticks()
        )

    def _names(self) -> str:
        last = len(self.columns) - 1
        step = next(
            unit * ten
            for ten in (1, 10, 100, 1000, 10_000, 100_000)
            for unit in (1, 2, 5)
            if last / (unit * ten) <= MOST_NAMED
        )
        return "".join(
            f'<div style="position:absolute;left:{self.x(place + 0.5):.2f}%;'
            f'transform:translateX(-50%);{_SMALL}">{in_html(self.columns[place])}</div>'
            for place in range(0, last + 1, step)
        )


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Samples, as HTML, and what they stand for."""
    return (
        '<div style="grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.15rem 1rem;'
        'justify-content:center;margin-top:.5rem;font-size:.8rem">'
        + "".join(
            '<span style="display:inline-flex;align-items:center;gap:.4rem;min-width:0">'
            f'{sample}<span style="overflow:hidden;text-overflow:ellipsis">{in_html(name)}</span>'
            "</span>"
            for sample, name in entries
        )
        + "</div>"
    )


def mark(glyph: str, colour: str, left: float, top: float) -> str:
    """A glyph in the middle of a place, in percent."""
    return (
        f'<div style="position:absolute;left:{left:.2f}%;top:{top:.2f}%;color:{colour};'
        'transform:translate(-50%,-50%);font-size:.8rem;line-height:1;pointer-events:none">'
        f"{glyph}</div>"
    )


def stroke(colour: str, width: float, dashes: str = "") -> str:
    """Attributes of a line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'stroke="{colour}" stroke-width="{width}"{dashed} stroke-linejoin="round" {LINE}'


def sample(attributes: str, glyph: str = "", colour: str = "inherit") -> str:
    """A piece of a line for the legend, with its glyph."""
    over = f'<span style="position:absolute;color:{colour}">{glyph}</span>' if glyph else ""
    return (
        '<span style="position:relative;display:inline-flex;align-items:center;'
        'justify-content:center;line-height:1;font-size:.8rem">'
        '<svg viewBox="0 0 24 8" style="width:24px;height:8px">'
        f'<path d="M0 4H24" {attributes}/></svg>{over}</span>'
    )
