"""Small charts as inline SVG.  Every text goes through `escape`; colours are CSS variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 14, 30


@dataclass(frozen=True, slots=True)
class Line:
    """A series of a line chart.  `band`: both ends of its interval; NaN where not known."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    band: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a scatter chart; `shape` is "full", "hollow" or "cross"."""

    x: float
    y: float
    shape: str
    hint: str


class _Frame:
    """Maps data to pixels and draws the axes."""

    def __init__(self, x: Sequence[float], y: Sequence[float], height: int) -> None:
        self.height = height
        finite = [value for value in y if math.isfinite(value)] or [0.0]
        low, high = min([*finite, 0.0]), max([*finite, 0.0])
        pad = 0.06 * ((high - low) or 1.0)
        self.low, self.high = low - pad, high + pad
        self.first, self.last = min(x, default=0.0), max(x, default=1.0)

    def at(self, x: float, y: float) -> tuple[float, float]:
        span = (self.last - self.first) or 1.0
        across = _LEFT + (x - self.first) / span * (WIDTH - _LEFT - _RIGHT)
        share = (y - self.low) / (self.high - self.low)
        return round(across, 1), round(self.height - _BOTTOM - share * self._inner, 1)

    @property
    def _inner(self) -> float:
        return self.height - _TOP - _BOTTOM

    def axes(self, x_title: str, unit: str) -> str:
        parts = []
        for tick in _ticks(self.low, self.high):
            _, y = self.at(self.first, tick)
            parts.append(
                f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}" class="grid"/>'
                f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>'
            )
        step = max(1, math.ceil((self.last - self.first) / 20))
        for tick in range(math.ceil(self.first), math.floor(self.last) + 1, step):
            x, _ = self.at(tick, self.low)
            parts.append(f'<text x="{x}" y="{self.height - 12}" text-anchor="middle">{tick}</text>')
        parts.append(
            f'<text x="{WIDTH - _RIGHT}" y="{self.height - 1}" text-anchor="end">'
            f"{escape(x_title)}</text>"
            f'<text x="2" y="11">{escape(unit)}</text>'
        )
        return "".join(parts)


def line_chart(
    lines: Sequence[Line],
    levels: Sequence[tuple[str, float]] = (),
    *,
    x_title: str,
    unit: str,
    title: str,
    height: int = 300,
) -> str:
    """Lines over iterations, with named horizontal lines to compare with."""
    x = [value for line in lines for value in line.x]
    y = [value for line in lines for value in line.y] + [value for _, value in levels]
    frame = _Frame(x, y, height)
    parts = [frame.axes(x_title, unit)]
    for name, level in levels:
        _, at = frame.at(frame.first, level)
        parts.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at}" y2="{at}" class="level"/>'
            f'<text x="{WIDTH - _RIGHT}" y="{at - 4}" text-anchor="end" class="muted">'
            f"{escape(name)}: {level:g}</text>"
        )
    for line in lines:
        parts.append(_band(frame, line))
        points = [frame.at(a, b) for a, b in zip(line.x, line.y, strict=True) if math.isfinite(b)]
        path = " ".join(f"{a},{b}" for a, b in points)
        parts.append(f'<polyline points="{path}" class="series" stroke="{line.colour}"/>')
        parts.extend(f'<circle cx="{a}" cy="{b}" r="3" fill="{line.colour}"/>' for a, b in points)
    key = "".join(
        f'<span><i style="background:{line.colour}"></i>{escape(line.name)}</span>'
        for line in lines
    )
    return f"{_svg(height, title, parts)}<p class='key'>{key}</p>"


def _band(frame: _Frame, line: Line) -> str:
    known = [
        (x, low, high)
        for x, (low, high) in zip(line.x, line.band, strict=False)
        if math.isfinite(low) and math.isfinite(high)
    ]
    upper = [frame.at(x, min(high, frame.high)) for x, _, high in known]
    lower = [frame.at(x, max(low, frame.low)) for x, low, _ in reversed(known)]
    path = " ".join(f"{a},{b}" for a, b in [*upper, *lower])
    return f'<polygon points="{path}" fill="{line.colour}" opacity="0.15"/>' if known else ""


def scatter(dots: Sequence[Dot], *, x_title: str, unit: str, title: str, height: int = 280) -> str:
    """Points over iterations: what was tried, what was kept, what failed."""
    frame = _Frame([dot.x for dot in dots], [dot.y for dot in dots], height)
    parts = [frame.axes(x_title, unit)]
    _, zero = frame.at(frame.first, 0.0)
    parts.append(
        f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{zero}" y2="{zero}" class="level"/>'
    )
    for dot in dots:
        # A failure has no score: it stands at the foot of the chart.
        x, y = frame.at(dot.x, dot.y if math.isfinite(dot.y) else frame.low)
        hint = f"<title>{escape(dot.hint)}</title>"
        if dot.shape == "cross":
            parts.append(f'<path d="M{x - 3},{y - 3}l6,6m0,-6l-6,6" class="cross">{hint}</path>')
        else:
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" class="{dot.shape}">{hint}</circle>')
    return _svg(height, title, parts)


def heat_map(
    values: Sequence[Sequence[float]], labels: Sequence[str], notes: Sequence[str], *, title: str
) -> str:
    """A square matrix of payoffs; blue wins, orange loses; `notes` stand behind the rows."""
    n = max(1, len(labels))
    cell = max(14, min(30, 560 // n))
    left, top = 60, 46
    largest = max((abs(v) for row in values for v in row if math.isfinite(v)), default=0.0) or 1.0
    parts = []
    for i, row in enumerate(values):
        y = top + i * cell
        parts.append(
            f'<text x="{left - 5}" y="{y + cell / 2 + 4}" text-anchor="end">{escape(labels[i])}'
            f'</text><text x="{left + n * cell + 6}" y="{y + cell / 2 + 4}">{escape(notes[i])}'
            "</text>"
        )
        x = left + i * cell + cell / 2
        parts.append(
            f'<text transform="translate({x + 3},{top - 4}) rotate(-60)">{escape(labels[i])}</text>'
        )
        for j, value in enumerate(row):
            parts.append(_cell(left + j * cell, y, cell, value, largest, labels[i], labels[j]))
    return _svg(top + n * cell + 6, title, parts, left + n * cell + 90)


def _cell(x: int, y: int, size: int, value: float, largest: float, row: str, column: str) -> str:
    if not math.isfinite(value):
        colour, opacity, told = "var(--muted)", 0.15, "not played"
    else:
        colour = "var(--good)" if value >= 0 else "var(--bad)"
        opacity, told = math.sqrt(abs(value) / largest), f"{value:+.1f}"
    return (
        f'<rect x="{x}" y="{y}" width="{size - 1}" height="{size - 1}" fill="{colour}" '
        f'fill-opacity="{opacity:.3f}" class="cell"><title>{escape(row)} v {escape(column)}: '
        f"{told}</title></rect>"
    )


def bars(names: Sequence[str], values: Sequence[float], *, unit: str, title: str) -> str:
    """Horizontal bars around zero, in the order given."""
    row, left, right = 17, 150, 60
    largest = max((abs(value) for value in values), default=1.0) or 1.0
    low = min([*values, 0.0])
    span = (max([*values, 0.0]) - low) or largest
    zero = left + (-low) / span * (WIDTH - left - right)
    parts = [f'<text x="2" y="11">{escape(unit)}</text>']
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        y = 20 + place * row
        length = abs(value) / span * (WIDTH - left - right)
        start = zero if value >= 0 else zero - length
        colour = "var(--good)" if value >= 0 else "var(--bad)"
        parts.append(
            f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{start:.1f}" y="{y}" width="{length:.1f}" height="{row - 4}" '
            f'fill="{colour}"/><text x="{max(start + length, zero) + 5:.1f}" y="{y + 11}">'
            f"{value:+.1f}</text>"
        )
    return _svg(24 + row * len(names), title, parts)


def _svg(height: float, title: str, parts: Sequence[str], width: float = WIDTH) -> str:
    body = "".join(parts)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" style="max-width:{width:g}px">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values, about five."""
    raw = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    return [round(k * step, 10) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
