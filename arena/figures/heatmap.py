"""The payoff table as a heat map: one pixel a cell, stretched by the browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
from PIL import Image

from arena.figures import colours
from arena.figures.picture import Layer, Picture
from arena.figures.templates import fill
from arena.figures.text import number, short_ref, signed
from arena.square import Counts, Floats
from registry import shown

MOST_LABELS = 60
"""More names than that would be unreadable; the pointer tells."""
MOST_NUMBERS = 30
"""More policies than that leave no room for a number in each cell on any usual screen."""
_LABEL_PIXELS, _NUMBER_PIXELS = 11, 30
"""Width of a column from which its name, and the numbers in it, are written."""


class Payoffs(Protocol):
    """What is drawn of payoffs among n policies, in any order (`arena.payoffs.PayoffTable`)."""

    @property
    def mean(self) -> Floats:
        """(n, n) what the row's policy got a match; anything where they did not meet."""

    @property
    def stderr(self) -> Floats:
        """(n, n) of the mean; NaN where it is not known."""

    @property
    def count(self) -> Counts:
        """(n, n) matches."""

    @property
    def forfeits(self) -> Counts:
        """(n, n) matches that the row's policy forfeited."""


class Ends(Protocol):
    """Where 95 % intervals of n x n payoffs end (`arena.analysis.estimates.Estimates`)."""

    @property
    def low(self) -> Floats:
        """(n, n); NaN where it is not known."""

    @property
    def high(self) -> Floats:
        """(n, n)."""


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
    table: Payoffs,
    refs: Sequence[str],
    unit: str,
    *,
    height: int = 720,
    dark: bool = False,
    shades: Shades | None = None,
    ends: Ends | None = None,
) -> Picture:
    """Mean return of row against column, in the order of the table.

    Args:
      table: n policies.
      refs: (n,) what to call them.
      unit: of returns.
      height: of the cells together, in pixels.
      dark: whether it stands on a dark ground.
      shades: of the colours; by default wide ones.
      ends: of the payoffs' intervals; by default their standard errors are told.
    """
    n = len(refs)
    means = np.where(table.count > 0, table.mean, np.nan)
    shades = shades or Shades.wide(means)
    colour_of = _colours(shades.share(means), dark)
    labels = [shown(short_ref(ref)) for ref in refs]
    named = 0 < n <= MOST_LABELS
    html = fill(
        "arena/figures/heatmap.j2",
        "map",
        count=n,
        height=height,
        image=_image(means, colour_of),
        rows=labels if named else None,
        columns=_column_names(labels) if named else None,
        numbers=_numbers(means, colour_of) if 0 < n <= MOST_NUMBERS else None,
        legend=_legend(shades, unit, dark),
    )
    layers, told = _told(table, means, ends, unit)
    return Picture(html, labels, labels, layers, told, "{row} and {column}: no matches")


def _told(
    table: Payoffs, means: np.ndarray, ends: Ends | None, unit: str
) -> tuple[list[Layer], str]:
    """What is told about a cell; of forfeits where there are any among those drawn."""
    layers = [Layer(means, signed=True)]
    parts = [f"{{row}} against {{column}}\n{{0}} {unit} a match\n"]

    def number_of(values: np.ndarray, digits: int = 1) -> str:
        layers.append(Layer(values, digits))
        return f"{{{len(layers) - 1}}}"

    if ends is None:
        parts.append(f"standard error {number_of(table.stderr)}, ")
    else:
        parts.append(f"95 % [{number_of(ends.low)}, {number_of(ends.high)}], ")
    parts.append(f"{number_of(table.count, 0)} matches")
    if table.forfeits.any():
        lost = number_of(table.forfeits, 0), number_of(table.forfeits.T, 0)
        parts.append(f"\nforfeits {lost[0]} : {lost[1]}")
    return layers, "".join(parts)


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


class _Numbers(NamedTuple):
    """What is written in the cells, row by row: whether the cell is bright, and the text."""

    size: str
    cells: list[tuple[bool, str]]


def _numbers(means: np.ndarray, colour_of: np.ndarray) -> _Numbers:
    """The means, where a cell is wide enough."""
    linear = np.where(
        colour_of <= 10.0, colour_of / 3294.6, ((colour_of / 255 + 0.055) / 1.055) ** 2.4
    )
    # WCAG 2: black has the larger contrast from this luminance on, and either at least 4.5 : 1.
    bright = linear @ [0.2126, 0.7152, 0.0722] > 0.179
    texts = [number(mean, 0) for mean in means.ravel().tolist()]
    texts[:: len(means) + 1] = [""] * len(means)  # the diagonal
    cells = list(zip(bright.ravel().tolist(), texts, strict=True))
    return _Numbers(_where_wide(len(means), _NUMBER_PIXELS, 0.68), cells)


def _where_wide(n: int, pixels: int, rem: float) -> str:
    """A length that is nothing where one of n columns is narrower than so many pixels."""
    return f"clamp(0px,calc((100cqw/{n} - {pixels}px)*99),{rem:.2f}rem)"


class _Columns(NamedTuple):
    """Names above the columns, with their distance from the right border in percent."""

    height: str
    size: str
    names: list[tuple[str, str]]


def _column_names(labels: Sequence[str]) -> _Columns:
    n, longest = len(labels), min(max(map(len, labels)), 26)
    return _Columns(
        _where_wide(n, _LABEL_PIXELS, longest * 0.32 + 0.6),
        _where_wide(n, _LABEL_PIXELS, 0.68),
        [(f"{100.0 - 100.0 * (place + 0.5) / n:.2f}", label) for place, label in enumerate(labels)],
    )


class _Legend(NamedTuple):
    """Colours of a gradient, and the payoffs of places on it, in percent."""

    ramp: str
    marks: list[tuple[str, str]]
    unit: str
    roots: bool


def _legend(shades: Shades, unit: str, dark: bool) -> _Legend:
    places = (0.0, 0.25, 0.5, 0.75, 1.0)
    return _Legend(
        colours.ramp(dark),
        [(f"{100 * place:.0f}", signed(shades.at(place), 0)) for place in places],
        unit,
        shades.roots,
    )


def clustered(table: Payoffs) -> list[int]:
    """An order of the policies that puts those side by side who fare alike against everybody.

    Average linkage over the Euclidean distance of rows; missing payoffs count as 0.
    """
    if len(table.mean) < 3:
        return list(range(len(table.mean)))
    # Not above: to load it takes nearly as long as Streamlit, and many pages show no heat map.
    from scipy.cluster.hierarchy import leaves_list, linkage

    rows = np.nan_to_num(table.mean, nan=0.0)
    tree = linkage(rows, method="average", optimal_ordering=len(rows) <= 120)
    order: list[int] = leaves_list(tree).tolist()
    return order
