"""Cards and chips as pictures.  Only our own words go in, never an entrant's.

Each is an `<img>` with the SVG in its address: what the browser is given is an image, in which
nothing can run.
"""

from __future__ import annotations

import base64
import functools
from typing import TYPE_CHECKING

from arena.figures import colours
from arena.figures.templates import fill

if TYPE_CHECKING:
    from markupsafe import Markup

CARD_WIDTH, CARD_HEIGHT = 52, 74
_TEMPLATE = "arena/figures/cards.j2"
_RANK_COLOURS = {"J": colours.GREEN, "Q": colours.PINK, "K": colours.AMBER}
_RANK_NAMES = {"J": "jack", "Q": "queen", "K": "king"}


def image(label: str, width: int, height: int, drawing: Markup) -> Markup:
    """An SVG drawing as an `<img>`; sizes in pixels."""
    svg = fill(_TEMPLATE, "svg", width=width, height=height, drawing=drawing)
    data = base64.b64encode(svg.encode()).decode()
    return fill(_TEMPLATE, "image", label=label, width=width, height=height, data=data)


@functools.cache
def card(rank: str | None) -> Markup:
    """A card face up, or a card's back where its rank is not to be seen."""
    size = {"width": CARD_WIDTH, "height": CARD_HEIGHT}
    if rank is None:
        return image("face down", drawing=fill(_TEMPLATE, "card_back", **size), **size)
    face = fill(_TEMPLATE, "card_face", rank=rank, colour=_RANK_COLOURS[rank], **size)
    return image(_RANK_NAMES[rank], drawing=face, **size)


@functools.cache
def chips(count: int, colour: str) -> Markup:
    """A stack of chips."""
    height = 16 + 5 * count
    places = [height - 8 - 5 * place for place in range(count)]
    return image(
        f"{count} chips", 36, height, fill(_TEMPLATE, "discs", places=places, colour=colour)
    )
