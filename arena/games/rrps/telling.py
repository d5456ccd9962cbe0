"""Throws of a rock-paper-scissors match in words, as pictures, and what each side did most."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.figures.cards import image
from arena.figures.marks import CROSS
from arena.figures.templates import fill
from arena.games.parts import Event, Forfeit, Habits, Telling
from arena.games.rrps.table import ACTIONS

if TYPE_CHECKING:
    from markupsafe import Markup

_TEMPLATE = "arena/games/rrps/telling.j2"
WINDOW = 20
"""Throws that are drawn at once."""
SHIFTS = ("the same again", "one up", "one down")
"""What a throw is to the one before; up is towards the throw that beats it."""


def row(event: Event) -> dict[str, object]:
    """A throw in a line."""
    first, second = event["actions"]
    return {
        "Throw": event["throw"],
        "Seat 0": first,
        "Seat 1": second,
        "Seat 0 won": event["payoff"],
        "So far": event["total"],
    }


def picture(
    events: Sequence[Event], at: int, names: tuple[str, str], forfeit: Forfeit | None = None
) -> Markup:
    """The throws around number `at`, seat 0 above, and the fault if it is among them."""
    throws = _strip(events, at, forfeit)
    return fill(_TEMPLATE, "picture", names=names, throws=throws, at=at)


def _strip(
    events: Sequence[Event], at: int, forfeit: Forfeit | None
) -> list[tuple[int, tuple[Markup, ...]]]:
    """`WINDOW` throws from number `at` on; near the end of the match, its last ones.

    Returns:
      For each its number, and what stands above each other: seat 0, who won, seat 1.
    """
    cells = [
        (throw(one), outcome(event["payoff"]), throw(two))
        for event in events
        for one, two in [event["actions"]]
    ]
    if forfeit and forfeit.step > len(events):
        fault = f"seat {forfeit.seat}: {forfeit.why}"
        cross = fill(_TEMPLATE, "glyph", sign=CROSS, told=fault)
        unknown = fill(_TEMPLATE, "glyph", sign="?", told="a throw that did not count")
        lost = outcome(1 if forfeit.seat == 1 else -1)
        cells.append((cross, lost, unknown) if forfeit.seat == 0 else (unknown, lost, cross))
    first = max(min(at, len(cells) - WINDOW + 1), 1)
    return list(enumerate(cells[first - 1 : first - 1 + WINDOW], first))


@functools.cache
def throw(action: str) -> Markup:
    """ROCK as a stone, PAPER as a sheet, SCISSORS as scissors: told apart by shape alone."""
    return image(action.lower(), 34, 34, fill(_TEMPLATE, "throw", action=action))


@functools.cache
def outcome(payoff: int) -> Markup:
    """Who won a throw: an arrow to the winner's row, in his colour; a dot for a draw."""
    told = {1: "seat 0 wins", 0: "draw", -1: "seat 1 wins"}[payoff]
    return image(told, 34, 18, fill(_TEMPLATE, "outcome", payoff=payoff))


def habits(events: Sequence[Event], seat: int) -> Habits:
    """How often a seat threw what, and what it did after winning, drawing and losing.

    Returns:
      Lines with `What`, `Times` and `Share` (in percent of the occasions for it).
    """
    thrown = [event["actions"][seat] for event in events]
    lines: list[dict[str, object]] = [
        {"What": name, "Times": count, "Share": 100.0 * count / len(thrown)}
        for name, count in ((name, thrown.count(name)) for name in ACTIONS)
    ]
    sign = 1 if seat == 0 else -1
    after: Counter[tuple[int, int]] = Counter()
    for before, now in itertools.pairwise(events):
        steps = ACTIONS.index(now["actions"][seat]) - ACTIONS.index(before["actions"][seat])
        after[before["payoff"] * sign, steps % 3] += 1
    for payoff, occasion in ((1, "a win"), (0, "a draw"), (-1, "a loss")):
        total = sum(after[payoff, shift] for shift in range(3))
        if not total:
            continue
        shift = max(range(3), key=lambda one: after[payoff, one])
        lines.append(
            {
                "What": f"after {occasion}: {SHIFTS[shift]}",
                "Times": after[payoff, shift],
                "Share": 100.0 * after[payoff, shift] / total,
            }
        )
    return Habits(tuple(lines), ("Share",))


def where(event: Event, seat: int) -> dict[str, str]:
    """What this seat threw, and against what."""
    mine, theirs = event["actions"][seat], event["actions"][1 - seat]
    return {"throws": f"{mine} against {theirs}"}


TELLING = Telling(window=WINDOW, row=row, picture=picture, habits=habits, where=where)
"""How a match of repeated rock-paper-scissors is told and drawn."""
