"""A hand of poker between two seats as HTML: cards and chips, and the betting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.figures import cards
from arena.figures.colours import ON_SEATS, SEATS, ink
from arena.figures.marks import CROSS
from arena.figures.text import in_html

Betting = Sequence[tuple[int, str]]
"""Seat and action name, in order of play."""


def forfeited(step: int, seat: int, name: str, why: str) -> str:
    """A line that says who forfeited in a hand.

    Args:
      step: number of the hand, from 1.
      seat: 0 or 1, at fault.
      name: of the policy there; escaped here.
      why: a word for it; escaped here.
    """
    return (
        f"<div><b>{CROSS} hand {step}</b>: seat {seat}, {in_html(name)}, "
        f"{in_html(why)}, and lost the rest of the match</div>"
    )


def side(seat: int, name: str, rank: str, stake: int, role: str) -> str:
    """One seat of a hand.

    Args:
      seat: 0 or 1.
      name: of the policy there; escaped here.
      rank: of its card, a letter.
      stake: chips that it has put into the pot.
      role: what it is in this hand.
    """
    return (
        '<div style="display:flex;align-items:flex-end;gap:12px;flex-wrap:wrap">'
        f"{cards.card(rank)}{cards.chips(stake, SEATS[seat])}"
        f'<b style="padding-bottom:6px">{stake}</b>'
        f'<div style="padding-bottom:8px"><b style="color:{ink(SEATS[seat])}">seat {seat}</b> '
        f"{in_html(name)}<br><small>{role}</small></div></div>"
    )


def betting(rounds: Iterable[tuple[str, Betting]]) -> str:
    """What was said, a line for each round in which anything was.

    Args:
      rounds: name and actions of each.
    """
    lines = []
    for name, actions in rounds:
        pills = " ".join(
            f'<span style="background:{SEATS[seat]};color:{ON_SEATS[seat]};border-radius:9px;'
            f'padding:1px 9px;font-size:.82rem">{seat} {action.lower()}</span>'
            for seat, action in actions
        )
        if actions:
            lines.append(f'<div style="margin:3px 0"><small>{name}</small> {pills}</div>')
    return "".join(lines)


def hand(result: str, sides: tuple[str, str], middle: str) -> str:
    """A whole hand: what came of it, seat 0, what lies between the seats, and seat 1."""
    return (
        '<div style="display:flex;flex-direction:column;gap:12px">'
        f"<div>{result}</div>{sides[0]}"
        '<div style="display:flex;align-items:center;gap:14px;flex-wrap:wrap">'
        f"{middle}</div>{sides[1]}</div>"
    )
