"""Whose turn it is: the order in which submissions are worked on.

Work goes in slices: the checks and the trial of a submission, or one deal against everybody.  The
next slice belongs to the author who has used least today, and within an author to the oldest
submission.  So whoever floods the queue waits behind everybody else: another author's first slice
begins as soon as the one at hand is over.

Checks, which have no author, take turns with submissions: neither of the two can hold up the
other for longer than one slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dashboards.tickets import Ticket


def in_order(
    tickets: Iterable[Ticket], used: Mapping[str, float], *, check_next: bool
) -> list[Ticket]:
    """Tickets in the order of their next slices, if nobody else comes.

    What the slices will cost is not known before, so authors are taken to use alike: they take
    turns, the one who has used least first.

    Args:
      tickets: those that go on, in any order.
      used: seconds that each author has used today; those who are missing have used nothing.
      check_next: whether a check comes first, where there is one.
    """
    by_number = sorted(tickets, key=lambda ticket: ticket.number)
    checks = [ticket for ticket in by_number if ticket.checks_only]
    rounds: dict[str, int] = {}
    places: list[tuple[int, float, int, Ticket]] = []
    for ticket in by_number:
        if not ticket.checks_only:
            place = rounds.get(ticket.author, 0)
            rounds[ticket.author] = place + 1
            places.append((place, used.get(ticket.author, 0.0), ticket.number, ticket))
    submissions = [ticket for *_, ticket in sorted(places, key=lambda one: one[:3])]
    first, second = (checks, submissions) if check_next else (submissions, checks)
    return list(_alternately(first, second))


def _alternately(first: list[Ticket], second: list[Ticket]) -> Iterable[Ticket]:
    for place in range(max(len(first), len(second))):
        yield from first[place : place + 1]
        yield from second[place : place + 1]
