"""Cards, chips and throws as pictures.  Only our own words go in, never an entrant's.

Each is an `<img>` with the SVG in its address: what the browser is given is an image, in which
nothing can run.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Sequence

from dashboards import theme

CARD_WIDTH, CARD_HEIGHT = 52, 74
_RANK_COLOURS = {"J": theme.GREEN, "Q": theme.PINK, "K": theme.AMBER}
_RANK_NAMES = {"J": "jack", "Q": "queen", "K": "king"}


def _image(label: str, width: int, height: int, drawing: str) -> str:
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
        f'stroke="#66707B" fill="{theme.GREY if rank is None else "#FFFFFF"}"/>'
    )
    if rank is None:
        lines = "".join(
            f'<path d="M{x} 6 L{x - 24} 68" stroke="#FFFFFF" stroke-opacity=".4"/>'
            for x in range(18, 74, 8)
        )
        window = '<clipPath id="b"><rect x="5" y="5" width="42" height="64" rx="3"/></clipPath>'
        return _image(
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
    return _image(_RANK_NAMES[rank], CARD_WIDTH, CARD_HEIGHT, frame + face)


@functools.cache
def chips(count: int, colour: str) -> str:
    """A stack of chips."""
    height = 16 + 5 * count
    discs = "".join(
        f'<ellipse cx="18" cy="{height - 8 - 5 * place}" rx="16" ry="7" fill="{colour}" '
        f'stroke="#FFFFFF" stroke-width="1.2"/>'
        for place in range(count)
    )
    return _image(f"{count} chips", 36, height, discs)


@functools.cache
def throw(action: str) -> str:
    """ROCK as a stone, PAPER as a sheet, SCISSORS as scissors: told apart by shape alone."""
    shapes = {
        "ROCK": f'<circle cx="17" cy="17" r="11" fill="{theme.GREY}"/>',
        "PAPER": f'<rect x="8" y="5" width="18" height="24" rx="2" fill="{theme.SKY}"/>'
        '<path d="M12 12h10M12 17h10M12 22h7" stroke="#10384F" stroke-width="1.6"/>',
        "SCISSORS": f'<g fill="none" stroke="{theme.AMBER}" stroke-width="2.6">'
        '<path d="M10 5 L22 23 M24 5 L12 23"/><circle cx="10" cy="26" r="3.6"/>'
        '<circle cx="24" cy="26" r="3.6"/></g>',
    }
    return _image(action.lower(), 34, 34, shapes[action])


@functools.cache
def outcome(payoff: int) -> str:
    """Who won a throw: an arrow to the winner's row, in his colour; a dot for a draw."""
    if payoff == 0:
        shape = f'<circle cx="17" cy="9" r="2.5" fill="{theme.GREY}"/>'
    else:
        points = "17,2 23,15 11,15" if payoff > 0 else "17,16 23,3 11,3"
        shape = f'<polygon points="{points}" fill="{theme.GAIN if payoff > 0 else theme.LOSS}"/>'
    return _image({1: "seat 0 wins", 0: "draw", -1: "seat 1 wins"}[payoff], 34, 18, shape)


def paid(betting: Sequence[Sequence[tuple[int, str]]]) -> tuple[int, int]:
    """Chips that seats 0 and 1 put into the pot of a Leduc hand.

    Args:
      betting: of both rounds, each (seat, action name), as in the events of `Leduc.account`.
    """
    stakes = [1, 1]
    for raise_by, actions in zip((2, 4), betting, strict=True):
        for seat, action in actions:
            if action == "CALL":
                stakes[seat] = stakes[1 - seat]
            elif action == "RAISE":
                stakes[seat] = stakes[1 - seat] + raise_by
    return (stakes[0], stakes[1])
