"""Hands of a Kuhn poker match in words, as cards and chips, and what each side did most."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from arena.figures import hands
from arena.games.hand_telling import hand_telling
from arena.games.kuhn import table
from arena.games.parts import Event, Habits

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
    lines: list[dict[str, object]] = []
    for situation, card in itertools.product(_SITUATIONS.values(), reversed(table.RANKS)):
        if (found := counts.get((situation, card))) is not None:
            total = found.total()
            shares = {action: 100.0 * found[action] / total for action in table.ACTIONS}
            lines.append({"When": situation, "Card": card, "Acts": total} | shares)
    return Habits(tuple(lines), table.ACTIONS)


TELLING = hand_telling(
    row=row,
    habits=habits,
    paid=lambda event: paid(event["betting"]),
    middle=lambda event: hands.betting([("", event["betting"])]),
    held=lambda event, seat: str(event["cards"][seat]),
    said="action",
)
"""How a match of repeated Kuhn poker is told and drawn."""
