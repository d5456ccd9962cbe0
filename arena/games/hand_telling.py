"""How games of hands are drawn: one hand a picture, with cards, chips and the betting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from arena.figures import hands
from arena.games.parts import Event, Forfeit, Habits, Telling

if TYPE_CHECKING:
    from markupsafe import Markup


def hand_telling(
    *,
    row: Callable[[Event], dict[str, object]],
    habits: Callable[[Sequence[Event], int], Habits],
    paid: Callable[[Event], tuple[int, int]],
    middle: Callable[[Event], Markup],
    held: Callable[[Event, int], str],
    said: str,
) -> Telling:
    """The telling of a game whose events are those of `arena.games.hand_game`.

    Args:
      row: see `Telling`.
      habits: see `Telling`.
      paid: an event to the chips that seats 0 and 1 put into the pot.
      middle: an event to what lies between the seats: the betting, and cards that both can see.
      held: an event and a seat to the cards that it saw.
      said: how a line of the table writes an action, after the seat.
    """

    def where(event: Event, seat: int) -> dict[str, str]:
        return {
            "cards": held(event, seat),
            "place": "acted second" if event["dealer"] == seat else "acted first",
            "end": _end(event, seat, paid(event)[seat]),
        }

    def hand(event: Event, names: tuple[str, str]) -> Markup:
        stakes = paid(event)
        # As the observations of the two call them, so that what a policy printed can be followed.
        roles = (
            "player 1, deals" if event["dealer"] == seat else "player 0, acts first"
            for seat in (0, 1)
        )
        first, second = (
            hands.side(seat, names[seat], event["cards"][seat], stakes[seat], role)
            for seat, role in enumerate(roles)
        )
        result = (
            f"{event['outcome'].lower()}, pot {event['pot']}, "
            f"seat 0 {event['payoff']:+d}, so far {event['total']:+d}"
        )
        return hands.hand(event["hand"], result, (first, second), middle(event))

    def picture(
        events: Sequence[Event], at: int, names: tuple[str, str], forfeit: Forfeit | None
    ) -> Markup:
        drawn = hands.not_begun() if at > len(events) else hand(events[at - 1], names)
        if forfeit is None or at != forfeit.step:
            return drawn
        seat = forfeit.seat
        return hands.stacked([hands.forfeited(at, seat, names[seat], forfeit.why), drawn])

    return Telling(
        window=1,
        row=row,
        picture=picture,
        habits=habits,
        where=where,
        legend=f"betting: seat and {said}; the seat that acts first is player 0 of the hand",
    )


def _end(event: Event, seat: int, stake: int) -> str:
    """How a hand ended for a seat, and what it had paid by then where that tells something."""
    won = event["payoff"] * (1 if seat == 0 else -1)
    if event["outcome"] == "UNFINISHED":
        return "was not finished"
    if event["outcome"] == "FOLD":
        return "the other gave up" if won > 0 else f"gave up {stake}"
    return f"{'won' if won > 0 else 'lost' if won < 0 else 'split'} a showdown of {stake} each"
