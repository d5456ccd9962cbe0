"""Cards and chips as pictures.  Only our own words go in, never an entrant's.

Each is an `<img>` with the SVG in its address: what the browser is given is an image, in which
nothing can run.
"""

from __future__ import annotations

import base64
import functools

from arena.figures import colours

CARD_WIDTH, CARD_HEIGHT = 52, 74
_RANK_COLOURS = {"J": colours.GREEN, "Q": colours.PINK, "K": colours.AMBER}
_RANK_NAMES = {"J": "jack", "Q": "queen", "K": "king"}


def image(label: str, width: int, height: int, drawing: str) -> str:
    """An SVG drawing as an `<img>`; sizes in pixels."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">{drawing}</svg>'
    )
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img alt="{label}" title="{label}" width="{width}" height="{height}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )


@functools.cache
def card(rank: str | None) -> str:
    """A card face up, or a card's back where its rank is not to be seen."""
    frame = (
        f'<rect x="1" y="1" width="{CARD_WIDTH - 2}" height="{CARD_HEIGHT - 2}" rx="6" '
        f'stroke="#66707B" fill="{colours.GREY if rank is None else "#FFFFFF"}"/>'
    )
    if rank is None:
        lines = "".join(
            f'<path d="M{x} 6 L{x - 24} 68" stroke="#FFFFFF" stroke-opacity=".4"/>'
            for x in range(18, 74, 8)
        )
        window = '<clipPath id="b"><rect x="5" y="5" width="42" height="64" rx="3"/></clipPath>'
        return image(
            "face down",
            CARD_WIDTH,
            CARD_HEIGHT,
            f'{frame}{window}<g clip-path="url(#b)">{lines}</g>',
        )
    colour = _RANK_COLOURS[rank]
    face = (
        f'<text x="6" y="19" font-size="15" font-weight="700" fill="{colour}">{rank}</text>'
        f'<text x="{CARD_WIDTH / 2}" y="49" font-size="32" font-weight="700" fill="{colour}" '
        f'text-anchor="middle">{rank}</text>'
        f'<text x="{CARD_WIDTH - 6}" y="{CARD_HEIGHT - 7}" font-size="15" font-weight="700" '
        f'fill="{colour}" text-anchor="end">{rank}</text>'
    )
    return image(_RANK_NAMES[rank], CARD_WIDTH, CARD_HEIGHT, frame + face)


@functools.cache
def chips(count: int, colour: str) -> str:
    """A stack of chips."""
    height = 16 + 5 * count
    discs = "".join(
        f'<ellipse cx="18" cy="{height - 8 - 5 * place}" rx="16" ry="7" fill="{colour}" '
        f'stroke="#FFFFFF" stroke-width="1.2"/>'
        for place in range(count)
    )
    return image(f"{count} chips", 36, height, discs)
