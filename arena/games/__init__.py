"""The games of the arena.  `game(name)` finds one; `GAMES` lists them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from arena.errors import UnknownGame
from arena.games.parts import Account
from arena.games.protocol import AuthorContract, Game, Seat, Table


class _Games(Mapping[str, Game]):
    """Games by name.  A game is loaded when it is looked up: its engine takes a while."""

    _names = ("rrps", "leduc", "kuhn")  # their folders

    def __getitem__(self, name: str) -> Game:
        if name not in self._names:
            raise KeyError(name)
        found: Game = importlib.import_module(f"arena.games.{name}").GAME
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<games: {', '.join(self._names)}>"


GAMES: Mapping[str, Game] = _Games()
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
