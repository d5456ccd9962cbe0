"""The payoff table as a heat map: one pixel a cell, stretched by the browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from scipy.cluster.hierarchy import leaves_list, linkage

from arena.figures import colours
from arena.figures.picture import Layer, Picture
from arena.figures.text import in_html, short_ref
from registry import shown

if TYPE_CHECKING:
    from arena.payoffs import PayoffTable

MOST_LABELS = 60
"""More names than that would be unreadable; the pointer tells."""
MOST_COLUMN_LABELS = 24
"""Columns are in the order of the rows, so their names are a help and no more."""
_STRIPES = (
    "repeating-linear-gradient(135deg,color-mix(in srgb,currentColor 11%,transparent) 0 1px,"
    "transparent 1px 5px)"
)
_SMALL = "font-size:.72rem;line-height:1;white-space:nowrap"


def payoff_heatmap(
    table: PayoffTable, refs: Sequence[str], unit: str, *, height: int = 720, dark: bool = False
) -> Picture:
    """Mean return of row against column, in the order of the table.

    Args:
      table: n policies.
      refs: (n,) what to call them.
      unit: of returns.
      height: of the cells together, in pixels.
      dark: whether it stands on a dark ground.
    """
    n = len(refs)
    means = np.where(table.count > 0, table.mean, np.nan)
    known = np.abs(means[np.isfinite(means)])
    # The largest payoffs (against a bot that always throws the same) would drown all others.
    limit = max(float(np.quantile(known, 0.95)) if known.size else 1.0, 1e-9)
    labels = [shown(short_ref(ref)) for ref in refs]
    names = _row_names(labels) if n <= MOST_LABELS else ""
    heads = _column_names(labels) if n <= MOST_COLUMN_LABELS else ""
    html = (
        '<div style="display:grid;grid-template-columns:fit-content(38%) minmax(0,1fr);'
        'column-gap:.5rem;row-gap:.4rem">'
        f"<div></div>{heads or '<div></div>'}"
        f'<div style="display:flex;flex-direction:column;min-width:0;height:{height}px">{names}'
        f'</div><div class="pointed-surface" tabindex="0" role="img" '
        f'style="position:relative;height:{height}px;background:{_STRIPES}" '
        f'aria-label="Payoffs of {n} policies; the arrow keys go from cell to cell.">'
        f'<img alt="" src="{_image(means, limit, dark)}" style="width:100%;height:100%;'
        f'display:block;image-rendering:pixelated"></div><div></div>'
        f"{_legend(limit, unit, dark)}</div>"
    )
    return Picture(
        html,
        labels,
        labels,
        [Layer(means, signed=True), Layer(table.stderr), Layer(table.count, digits=0)],
        f"{{row}} against {{column}}\n{{0}} {unit} a match\nstandard error {{1}}, {{2}} matches",
        "{row} and {column}: no matches",
    )


def _image(means: np.ndarray, limit: float, dark: bool) -> str:
    """The cells as a picture in an address; cells without a number are transparent."""
    stops = colours.diverging(dark)
    places = [place for place, _ in stops]
    shares = np.clip(np.nan_to_num(means, nan=0.0) / (2.0 * limit) + 0.5, 0.0, 1.0)
    bands = [
        np.interp(shares, places, [int(colour[at : at + 2], 16) for _, colour in stops])
        for at in (1, 3, 5)
    ]
    pixels = np.stack([*bands, np.where(np.isnan(means), 0, 255)], axis=-1)
    buffer = io.BytesIO()
    Image.fromarray(pixels.round().astype(np.uint8)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _row_names(labels: Sequence[str]) -> str:
    return "".join(
        f'<div style="{_SMALL};flex:1 1 0;min-height:0;display:flex;align-items:center;'
        f'justify-content:flex-end"><span style="overflow:hidden;text-overflow:ellipsis">'
        f"{in_html(label)}</span></div>"
        for label in labels
    )


def _column_names(labels: Sequence[str]) -> str:
    """Slanted; what leans over the right border is cut off there, or the page would be wider."""
    longest = min(max((len(label) for label in labels), default=0), 26)
    return (
        f'<div style="position:relative;overflow-x:clip;height:{longest * 0.32 + 0.6:.2f}rem">'
        + "".join(
            f'<div style="{_SMALL};position:absolute;bottom:0;'
            f"left:{100.0 * (place + 0.5) / len(labels):.2f}%;transform-origin:left bottom;"
            f'transform:rotate(-50deg);max-width:10rem;overflow:hidden;text-overflow:ellipsis">'
            f"{in_html(label)}</div>"
            for place, label in enumerate(labels)
        )
        + "</div>"
    )


def _legend(limit: float, unit: str, dark: bool) -> str:
    bands = colours.diverging(dark)
    painted = ",".join(f"{colour} {100 * place:.0f}%" for place, colour in bands)
    return (
        f'<div style="{_SMALL};display:flex;align-items:center;gap:.5rem;justify-content:center">'
        f'<span>{-limit:,.0f}</span><div style="width:min(12rem,40%);height:.6rem;'
        f'background:linear-gradient(90deg,{painted})"></div>'
        f"<span>+{limit:,.0f} {in_html(unit)} a match</span></div>"
    )


def clustered(table: PayoffTable) -> list[int]:
    """An order of the policies that puts those side by side who fare alike against everybody.

    Average linkage over the Euclidean distance of rows; missing payoffs count as 0.
    """
    if len(table.digests) < 3:
        return list(range(len(table.digests)))
    rows = np.nan_to_num(table.mean, nan=0.0)
    tree = linkage(rows, method="average", optimal_ordering=len(rows) <= 120)
    order: list[int] = leaves_list(tree).tolist()
    return order
