"""Hands of a Leduc match in words, as cards and chips, and what each side did most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.figures import hands
from arena.games.hand_telling import hand_telling
from arena.games.leduc import table
from arena.games.parts import Event, Habits

if TYPE_CHECKING:
    from markupsafe import Markup

ROUNDS = ("preflop", "postflop")


def row(event: Event) -> dict[str, object]:
    """A hand in a line; the betting as seat and first letter of each action."""
    first, second = (
        " ".join(f"{seat}{action[0].lower()}" for seat, action in actions)
        for actions in event["betting"]
    )
    return {
        "Hand": event["hand"],
        "Seat 0": event["cards"][0],
        "Seat 1": event["cards"][1],
        "Public": event["public_card"] or "",
        "Preflop": first,
        "Postflop": second,
        "Pot": event["pot"],
        "End": event["outcome"].lower(),
        "Seat 0 won": event["payoff"],
        "So far": event["total"],
    }


def middle(event: Event) -> Markup:
    """The public card and the betting of both rounds."""
    said = hands.betting(zip(ROUNDS, event["betting"], strict=True))
    return hands.dealt(event["public_card"], said)


def paid(betting: Sequence[hands.Betting]) -> tuple[int, int]:
    """Chips that seats 0 and 1 put into the pot.

    Args:
      betting: of both rounds, as in the events of `Leduc.account`.
    """
    stakes = [table.ANTE, table.ANTE]
    for raise_by, actions in zip(table.RAISE_CHIPS, betting, strict=True):
        for seat, action in actions:
            if action == "CALL":
                stakes[seat] = stakes[1 - seat]
            elif action == "RAISE":
                stakes[seat] = stakes[1 - seat] + raise_by
    return (stakes[0], stakes[1])


def habits(events: Sequence[Event], seat: int) -> Habits:
    """Shares of a seat's actions by round and by what it held.

    A pair is a card that equals the public one.
    """
    counts: dict[tuple[str, str], Counter[str]] = {}
    for event in events:
        held = event["cards"][seat]
        for name, actions in zip(ROUNDS, event["betting"], strict=True):
            holding = "pair" if name == "postflop" and held == event["public_card"] else held
            counts.setdefault((name, holding), Counter()).update(
                action for who, action in actions if who == seat
            )
    order = {"pair": 0, "K": 1, "Q": 2, "J": 3}
    lines: list[dict[str, object]] = []
    for name, holding in sorted(counts, key=lambda key: (ROUNDS.index(key[0]), order[key[1]])):
        found = counts[name, holding]
        total = found.total()
        if total:
            shares = {action: 100.0 * found[action] / total for action in table.ACTIONS}
            lines.append({"Round": name, "Holding": holding, "Acts": total} | shares)
    return Habits(tuple(lines), table.ACTIONS)


def held(event: Event, seat: int) -> str:
    """A seat's card and the public one, as it saw them."""
    own, public = event["cards"][seat], event["public_card"]
    if public is None:
        return f"{own}, no public card"
    return f"pair of {own}" if own == public else f"{own}, public {public}"


TELLING = hand_telling(
    row=row,
    habits=habits,
    paid=lambda event: paid(event["betting"]),
    middle=middle,
    held=held,
    said="first letter of the action",
)
"""How a match of repeated Leduc hold'em is told and drawn."""
