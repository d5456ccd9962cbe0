"""The entrants that come with the arena, enrolled through the same `submit` as anyone's."""

from __future__ import annotations

from arena.house.leduc import leduc_house
from arena.house.rrps import rrps_submissions
from registry import Submission


def house_submissions(game: str | None = None) -> tuple[Submission, ...]:
    """The house entrants of a game, in alphabetical order; of every game where none is named."""
    everyone = leduc_house() + rrps_submissions()
    return tuple(entrant for entrant in everyone if game in (None, entrant.game))


__all__ = ["house_submissions"]
