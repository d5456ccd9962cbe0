"""The entrants that come with the arena, enrolled through the same `submit` as anyone's."""

from __future__ import annotations

from arena.games import GAMES
from registry import Submission


def house_submissions(game: str | None = None) -> tuple[Submission, ...]:
    """The house entrants of a game, in alphabetical order; of every game where none is named."""
    chosen = [name for name in sorted(GAMES) if game in (None, name)]
    return tuple(entrant for name in chosen for entrant in GAMES[name].house())


__all__ = ["house_submissions"]
