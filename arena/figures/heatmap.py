"""The payoff table as a heat map: one pixel a cell, stretched by the browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from PIL import Image

from arena.figures import colours
from arena.figures.picture import Layer, Picture
from arena.figures.text import in_html, number, short_ref, signed
from registry import shown

if TYPE_CHECKING:
    from arena.payoffs import PayoffTable

MOST_LABELS = 60
"""More names than that would be unreadable; the pointer tells."""
MOST_NUMBERS = 30
"""More policies than that leave no room for a number in each cell on any usual screen."""
_LABEL_PIXELS, _NUMBER_PIXELS = 11, 30
"""Width of a column from which its name, and the numbers in it, are written."""
_STRIPES = (
    "repeating-linear-gradient(135deg,color-mix(in srgb,currentColor 11%,transparent) 0 1px,"
    "transparent 1px 5px)"
)
_SMALL = "font-size:.72rem;line-height:1;white-space:nowrap"


@dataclass(frozen=True, slots=True)
class Shades:
    """How strong a colour a payoff has.

    Attributes:
      limit: payoffs of this size and beyond have the strongest colours.
      roots: whether shades go by square roots, which leaves small payoffs apart.
    """

    limit: float
    roots: bool = False

    @classmethod
    def wide(cls, means: np.ndarray) -> Self:
        """For all payoffs but the largest, which would drown all others.

        They are those against a bot that always throws the same.
        """
        return cls(_quantile(means, 0.95))

    @classmethod
    def fine(cls, means: np.ndarray) -> Self:
        """For small payoffs: square roots, clipped where most of those in `means` end.

        Args:
          means: payoffs of policies that are near each other, such as the strongest.
        """
        return cls(_quantile(means, 0.75), roots=True)

    def share(self, means: np.ndarray) -> np.ndarray:
        """Places on the colour scale, in [0, 1]; 0.5 is nothing won, and nothing known."""
        parts = np.clip(np.nan_to_num(means, nan=0.0) / self.limit, -1.0, 1.0)
        if self.roots:
            parts = np.sign(parts) * np.sqrt(np.abs(parts))
        shares: np.ndarray = parts / 2.0 + 0.5
        return shares

    def at(self, share: float) -> float:
        """The payoff of a place on the colour scale."""
        part = 2.0 * share - 1.0
        return self.limit * part * (abs(part) if self.roots else 1.0)


def _quantile(means: np.ndarray, share: float) -> float:
    known = np.abs(means[np.isfinite(means) & (means != 0.0)])
    return max(float(np.quantile(known, share)) if known.size else 1.0, 1e-9)


def payoff_heatmap(
    table: PayoffTable,
    refs: Sequence[str],
    unit: str,
    *,
    height: int = 720,
    dark: bool = False,
    shades: Shades | None = None,
) -> Picture:
    """Mean return of row against column, in the order of the table.

    Args:
      table: n policies.
      refs: (n,) what to call them.
      unit: of returns.
      height: of the cells together, in pixels.
      dark: whether it stands on a dark ground.
      shades: of the colours; by default wide ones.
    """
    n = len(refs)
    means = np.where(table.count > 0, table.mean, np.nan)
    shades = shades or Shades.wide(means)
    colour_of = _colours(shades.share(means), dark)
    labels = [shown(short_ref(ref)) for ref in refs]
    names = _row_names(labels) if n <= MOST_LABELS else ""
    heads = _column_names(labels) if n <= MOST_LABELS else ""
    numbers = _numbers(means, colour_of) if n <= MOST_NUMBERS else ""
    html = (
        '<div style="display:grid;grid-template-columns:fit-content(38%) minmax(0,1fr);'
        'column-gap:.5rem;row-gap:.4rem">'
        f"<div></div>{heads or '<div></div>'}"
        f'<div style="display:flex;flex-direction:column;min-width:0;height:{height}px">{names}'
        f'</div><div class="pointed-surface" tabindex="0" role="img" '
        f'style="position:relative;height:{height}px;background:{_STRIPES};{_MEASURED}" '
        f'aria-label="Payoffs of {n} policies; the arrow keys go from cell to cell.">'
        f'<img alt="" src="{_image(means, colour_of)}" style="width:100%;height:100%;'
        f'display:block;image-rendering:pixelated">{numbers}</div><div></div>'
        f"{_legend(shades, unit, dark)}</div>"
    )
    return Picture(
        html,
        labels,
        labels,
        [Layer(means, signed=True), Layer(table.stderr), Layer(table.count, digits=0)],
        f"{{row}} against {{column}}\n{{0}} {unit} a match\nstandard error {{1}}, {{2}} matches",
        "{row} and {column}: no matches",
    )


def _colours(shares: np.ndarray, dark: bool) -> np.ndarray:
    """Red, green and blue, 0 to 255, of places on the colour scale; one more axis, the last."""
    stops = colours.diverging(dark)
    places = [place for place, _ in stops]
    bands = [
        np.interp(shares, places, [int(colour[at : at + 2], 16) for _, colour in stops])
        for at in (1, 3, 5)
    ]
    return np.stack(bands, axis=-1)


def _image(means: np.ndarray, colour_of: np.ndarray) -> str:
    """The cells as a picture in an address; cells without a number are transparent."""
    opaque = np.where(np.isnan(means), 0, 255)[..., None]
    pixels = np.concatenate([colour_of, opaque], axis=-1)
    buffer = io.BytesIO()
    Image.fromarray(pixels.round().astype(np.uint8)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _numbers(means: np.ndarray, colour_of: np.ndarray) -> str:
    """The means in their cells, where a cell is wide enough, in black or white."""
    linear = np.where(
        colour_of <= 10.0, colour_of / 3294.6, ((colour_of / 255 + 0.055) / 1.055) ** 2.4
    )
    # WCAG 2: black has the larger contrast from this luminance on, and either at least 4.5 : 1.
    bright = linear @ [0.2126, 0.7152, 0.0722] > 0.179
    n = len(means)
    cells = "".join(
        f'<span style="color:{"#000" if bright[row, column] else "#FFF"}">'
        f"{number(float(means[row, column]), 0) if row != column else ''}</span>"
        for row in range(n)
        for column in range(n)
    )
    return (
        '<div aria-hidden="true" style="position:absolute;inset:0;display:grid;'
        f"grid-template:repeat({n},minmax(0,1fr))/repeat({n},minmax(0,1fr));place-items:center;"
        f"pointer-events:none;overflow:hidden;{_from_width(n, _NUMBER_PIXELS)};line-height:1;"
        f'font-variant-numeric:tabular-nums">{cells}</div>'
    )


_MEASURED = "container-type:inline-size"


def _from_width(n: int, pixels: int) -> str:
    """A font size that is nothing where a column is narrower; within what is `_MEASURED`."""
    return f"font-size:{_where_wide(n, pixels, 0.68)}"


def _where_wide(n: int, pixels: int, rem: float) -> str:
    """A length that is nothing where one of n columns is narrower than so many pixels."""
    return f"clamp(0px,calc((100cqw/{n} - {pixels}px)*99),{rem:.2f}rem)"


def _row_names(labels: Sequence[str]) -> str:
    return "".join(
        f'<div style="{_SMALL};flex:1 1 0;min-height:0;display:flex;align-items:center;'
        f'justify-content:flex-end"><span style="overflow:hidden;text-overflow:ellipsis">'
        f"{in_html(label)}</span></div>"
        for label in labels
    )


def _column_names(labels: Sequence[str]) -> str:
    """Slanted, each ending at its column: they lean over the names of rows, where there is room."""
    longest = min(max((len(label) for label in labels), default=0), 26)
    size = _from_width(len(labels), _LABEL_PIXELS)
    return (
        f'<div style="{_MEASURED}"><div style="position:relative;'
        f'height:{_where_wide(len(labels), _LABEL_PIXELS, longest * 0.32 + 0.6)}">'
        + "".join(
            f'<div style="{_SMALL};{size};position:absolute;bottom:0;'
            f"right:{100.0 - 100.0 * (place + 0.5) / len(labels):.2f}%;"
            "transform-origin:right bottom;"
            f'transform:rotate(50deg);max-width:10rem;overflow:hidden;text-overflow:ellipsis">'
            f"{in_html(label)}</div>"
            for place, label in enumerate(labels)
        )
        + "</div></div>"
    )


def _legend(shades: Shades, unit: str, dark: bool) -> str:
    bands = colours.diverging(dark)
    painted = ",".join(f"{colour} {100 * place:.0f}%" for place, colour in bands)
    places = (0.0, 0.25, 0.5, 0.75, 1.0)
    named = "".join(
        f'<span style="position:absolute;left:{100 * place:.0f}%;transform:translateX(-50%)">'
        f"{signed(shades.at(place), 0)}</span>"
        for place in places
    )
    return (
        f'<div style="{_SMALL};display:flex;gap:2rem;justify-content:center;margin-top:.3rem">'
        '<div style="width:min(16rem,60%);height:1.7rem;position:relative">'
        f'<div style="height:.6rem;margin-bottom:.3rem;'
        f'background:linear-gradient(90deg,{painted})"></div>{named}</div>'
        f"<span>{in_html(unit)} a match{', by square roots' if shades.roots else ''}</span></div>"
    )


def clustered(table: PayoffTable) -> list[int]:
    """An order of the policies that puts those side by side who fare alike against everybody.

    Average linkage over the Euclidean distance of rows; missing payoffs count as 0.
    """
    if len(table.digests) < 3:
        return list(range(len(table.digests)))
    # Not above: to load it takes nearly as long as Streamlit, and many pages show no heat map.
    from scipy.cluster.hierarchy import leaves_list, linkage

    rows = np.nan_to_num(table.mean, nan=0.0)
    tree = linkage(rows, method="average", optimal_ordering=len(rows) <= 120)
    order: list[int] = leaves_list(tree).tolist()
    return order
