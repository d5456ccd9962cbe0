"""The games of the arena.  `game(name)` finds one; `GAMES` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from arena.errors import UnknownGame
from arena.games import kuhn, leduc, rrps
from arena.games.parts import Account
from arena.games.protocol import AuthorContract, Game, Seat, Table

_ALL = (rrps.GAME, leduc.GAME, kuhn.GAME)
GAMES: Mapping[str, Game] = MappingProxyType({one.name: one for one in _ALL})
"""Name to game, in the order in which they are shown."""


def game(name: str) -> Game:
    """The game of that name.

    Raises:
      UnknownGame: there is none; the message lists those that there are.
    """
    found = GAMES.get(name)
    if found is None:
        known = ", ".join(sorted(GAMES))
        raise UnknownGame(f"there is no game {name!r}; the games are: {known}")
    return found


__all__ = ["GAMES", "Account", "AuthorContract", "Game", "Seat", "Table", "game"]
