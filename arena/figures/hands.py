"""A hand of poker between two seats as HTML: cards and chips, and the betting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from arena.figures import cards
from arena.figures.colours import SEATS
from arena.figures.templates import fill

if TYPE_CHECKING:
    from markupsafe import Markup

Betting = Sequence[tuple[int, str]]
"""Seat and action name, in order of play."""
_TEMPLATE = "arena/figures/hands.j2"


def forfeited(step: int, seat: int, name: str, why: str) -> Markup:
    """A line that says who forfeited in a hand.

    Args:
      step: number of the hand, from 1.
      seat: 0 or 1, at fault.
      name: of the policy there.
      why: a word for it.
    """
    return fill(_TEMPLATE, "forfeited", step=step, seat=seat, name=name, why=why)


def not_begun() -> Markup:
    """A line in the place of a hand in which nobody acted."""
    return fill(_TEMPLATE, "not_begun")


def side(seat: int, name: str, rank: str, stake: int, role: str) -> Markup:
    """One seat of a hand.

    Args:
      seat: 0 or 1.
      name: of the policy there.
      rank: of its card, a letter.
      stake: chips that it has put into the pot.
      role: what it is in this hand.
    """
    return fill(
        _TEMPLATE,
        "side",
        seat=seat,
        name=name,
        card=cards.card(rank),
        chips=cards.chips(stake, SEATS[seat]),
        stake=stake,
        role=role,
    )


def betting(rounds: Iterable[tuple[str, Betting]]) -> Markup:
    """What was said, a line for each round in which anything was.

    Args:
      rounds: name and actions of each.
    """
    return fill(_TEMPLATE, "betting", rounds=rounds)


def dealt(rank: str | None, said: Markup) -> Markup:
    """The public card, with the betting beside it.

    Args:
      rank: of the card, a letter; None while it is face down.
      said: the betting.
    """
    return fill(_TEMPLATE, "dealt", card=cards.card(rank), said=said)


def hand(step: int, result: str, sides: tuple[Markup, Markup], middle: Markup) -> Markup:
    """A whole hand.

    Args:
      step: its number, from 1.
      result: what came of it.
      sides: of seats 0 and 1.
      middle: what lies between them.
    """
    return fill(_TEMPLATE, "hand", step=step, result=result, sides=sides, middle=middle)


def stacked(parts: Sequence[Markup]) -> Markup:
    """One above the other."""
    return fill(_TEMPLATE, "stacked", parts=parts)
