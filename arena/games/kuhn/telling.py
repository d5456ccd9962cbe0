"""Hands of a Kuhn poker match in words, as cards and chips, and what each side did most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arena.figures import hands
from arena.games.kuhn import table
from arena.games.parts import Event, Forfeit, Habits, Telling

_SITUATIONS = {"": "first to act", "P": "after a pass", "B": "facing a bet"}
"""The last thing that was said, and what that makes of a decision."""


def row(event: Event) -> dict[str, object]:
    """A hand in a line; the betting as seat and action."""
    return {
        "Hand": event["hand"],
        "Seat 0": event["cards"][0],
        "Seat 1": event["cards"][1],
        "Betting": " ".join(f"{seat} {action.lower()}" for seat, action in event["betting"]),
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
    """One hand: cards, both stakes and the betting, as HTML."""
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
    return hands.hand(result, (sides[0], sides[1]), hands.betting([("", event["betting"])]))


def paid(betting: hands.Betting) -> tuple[int, int]:
    """Chips that seats 0 and 1 put into the pot."""
    bets = Counter(seat for seat, action in betting if action == "BET")
    return (table.ANTE + table.BET_CHIPS * bets[0], table.ANTE + table.BET_CHIPS * bets[1])


def habits(events: Sequence[Event], seat: int) -> Habits:
    """Shares of a seat's actions by situation and by what it held."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for event in events:
        before = ""
        for who, action in event["betting"]:
            if who == seat:
                key = (_SITUATIONS[before], event["cards"][seat])
                counts.setdefault(key, Counter())[action] += 1
            before = action[0]
    order = list(_SITUATIONS.values())
    lines: list[dict[str, object]] = []
    for situation, card in sorted(
        counts, key=lambda key: (order.index(key[0]), key[1] != "K", key[1] == "J")
    ):
        found = counts[situation, card]
        shares = {action: 100.0 * found[action] / found.total() for action in table.ACTIONS}
        lines.append({"When": situation, "Card": card, "Acts": found.total()} | shares)
    return Habits(tuple(lines), table.ACTIONS)


TELLING = Telling(window=1, row=row, picture=picture, habits=habits)
"""How a match of repeated Kuhn poker is told and drawn."""
