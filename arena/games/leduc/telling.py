"""Hands of a Leduc match in words, as cards and chips, and what each side did most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arena.figures import cards, hands
from arena.games.leduc import table
from arena.games.parts import Event, Forfeit, Habits, Telling

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


def picture(
    events: Sequence[Event], at: int, names: tuple[str, str], forfeit: Forfeit | None = None
) -> str:
    """Hand number `at`, and the fault if it was there."""
    fault = ""
    if forfeit and at == forfeit.step:
        seat = forfeit.seat
        fault = hands.forfeited(at, seat, names[seat], forfeit.why)
    if at > len(events):
        return f"{fault}<small>Nobody had acted in this hand yet.</small>"
    return fault + hand(events[at - 1], names)


def hand(event: Event, names: tuple[str, str]) -> str:
    """One hand: cards, the public card, both stakes and the betting, as HTML."""
    stakes = paid(event["betting"])
    sides = [
        hands.side(
            seat,
            names[seat],
            event["cards"][seat],
            stakes[seat],
            "deals" if event["dealer"] == seat else "first to act",
        )
        for seat in (0, 1)
    ]
    result = (
        f"<b>hand {event['hand']}</b>: {event['outcome'].lower()}, pot {event['pot']}, "
        f"seat 0 {event['payoff']:+d}, so far {event['total']:+d}"
    )
    said = hands.betting(zip(ROUNDS, event["betting"], strict=True))
    middle = f"{cards.card(event['public_card'])}<div>{said}</div>"
    return hands.hand(result, (sides[0], sides[1]), middle)


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


TELLING = Telling(window=1, row=row, picture=picture, habits=habits)
"""How a match of repeated Leduc hold'em is told and drawn."""
