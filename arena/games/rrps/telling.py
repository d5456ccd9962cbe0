"""Throws of a rock-paper-scissors match in words, as pictures, and what each side did most."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Sequence

from arena.figures import colours
from arena.figures.cards import image
from arena.figures.marks import CROSS
from arena.figures.text import in_html
from arena.games.parts import Event, Forfeit, Habits, Telling
from arena.games.rrps.table import ACTIONS

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
) -> str:
    """The throws around number `at`, seat 0 above, and the fault if it is among them."""
    above, below = (
        f'<div style="font-size:.85rem"><b style="color:{colours.SEATS[seat]}">seat {seat}</b> '
        f"{in_html(name)}</div>"
        for seat, name in enumerate(names)
    )
    row = '<div style="display:flex;flex-wrap:wrap;gap:2px;line-height:1">'
    return f"{above}{row}{strip(events, at, forfeit)}</div>{below}"


def strip(events: Sequence[Event], at: int, forfeit: Forfeit | None) -> str:
    """`WINDOW` throws as HTML, from number `at` on; near the end of the match, its last ones."""
    cells = [
        (throw(one), outcome(event["payoff"]), throw(two))
        for event in events
        for one, two in [event["actions"]]
    ]
    if forfeit and forfeit.step > len(events):
        cross = _cell(CROSS, f"seat {forfeit.seat}: {forfeit.why}")
        unknown = _cell("?", "a throw that did not count")
        lost = outcome(1 if forfeit.seat == 1 else -1)
        cells.append((cross, lost, unknown) if forfeit.seat == 0 else (unknown, lost, cross))
    first = max(min(at, len(cells) - WINDOW + 1), 1)
    marked = f"background:color-mix(in srgb, {colours.PINK} 28%, transparent);border-radius:4px;"
    return "".join(
        f'<div style="{marked if number == at else ""}flex:0 0 auto;text-align:center;padding:2px">'
        f'<div style="font-size:.72rem;opacity:.65">{number}</div>'
        + "".join(f"<div>{part}</div>" for part in cell)
        + "</div>"
        for number, cell in enumerate(cells[first - 1 : first - 1 + WINDOW], first)
    )


def _cell(glyph: str, told: str) -> str:
    """A glyph that takes the place of a throw's picture."""
    return (
        f'<span title="{in_html(told)}" style="display:inline-flex;width:34px;height:34px;'
        f'align-items:center;justify-content:center;font-weight:700">{glyph}</span>'
    )


@functools.cache
def throw(action: str) -> str:
    """ROCK as a stone, PAPER as a sheet, SCISSORS as scissors: told apart by shape alone."""
    shapes = {
        "ROCK": f'<circle cx="17" cy="17" r="11" fill="{colours.GREY}"/>',
        "PAPER": f'<rect x="8" y="5" width="18" height="24" rx="2" fill="{colours.SKY}"/>'
        '<path d="M12 12h10M12 17h10M12 22h7" stroke="#10384F" stroke-width="1.6"/>',
        "SCISSORS": f'<g fill="none" stroke="{colours.AMBER}" stroke-width="2.6">'
        '<path d="M10 5 L22 23 M24 5 L12 23"/><circle cx="10" cy="26" r="3.6"/>'
        '<circle cx="24" cy="26" r="3.6"/></g>',
    }
    return image(action.lower(), 34, 34, shapes[action])


@functools.cache
def outcome(payoff: int) -> str:
    """Who won a throw: an arrow to the winner's row, in his colour; a dot for a draw."""
    if payoff == 0:
        shape = f'<circle cx="17" cy="9" r="2.5" fill="{colours.GREY}"/>'
    else:
        points = "17,2 23,15 11,15" if payoff > 0 else "17,16 23,3 11,3"
        shape = f'<polygon points="{points}" fill="{colours.SEATS[payoff < 0]}"/>'
    return image({1: "seat 0 wins", 0: "draw", -1: "seat 1 wins"}[payoff], 34, 18, shape)


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
