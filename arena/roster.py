"""Who takes part in a home, and what became of them: what its registry alone can say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.home import Home
from arena.listings import History, Policies, Seasons
from registry.errors import UnknownStatus
from registry.search import Filters
from registry.values import Author, PolicyVersion


def game_of(game: Game | str) -> Game:
    """A game that may be given by its name.

    Raises:
      UnknownGame: there is none of that name.
    """
    return game_named(game) if isinstance(game, str) else game


class Roster:
    """The part of `arena.Arena` that reads no match.

    Args:
      home: whose registry is read.
    """

    def __init__(self, home: Home) -> None:
        self.home = home

    def policies(self, game: Game | str | None = None, **filters: Unpack[Filters]) -> Policies:
        """Registered versions, in order of registration (see `registry.search.Filters`).

        Raises:
          UsageFault: there is no such status.
          TypeError: there is no such filter.
        """
        name = None if game is None else game_of(game).name
        try:
            return Policies(self.home.registry.find(name, **filters))
        except UnknownStatus as error:
            raise UsageFault(str(error)) from None

    def policy(self, ref: str, game: Game | str | None = None) -> PolicyVersion:
        """The version that a reference means: author/name, author/name@2, an alias or a digest.

        Raises:
          MalformedName, UnknownPolicy, AmbiguousRef: it means none, or several.
        """
        return self.home.registry.get(None if game is None else game_of(game).name, ref)

    def versions(self, digests: Iterable[str]) -> dict[str, PolicyVersion]:
        """Versions by digest.

        Raises:
          UnknownPolicy: one is not registered.
        """
        return self.home.registry.by_digests(sorted(set(digests)))

    def refs(self, digests: Iterable[str]) -> dict[str, str]:
        """References of some versions by digest."""
        return {digest: version.ref for digest, version in self.versions(digests).items()}

    def history(self, ref: str, game: Game | str | None = None) -> History:
        """Every status that a policy had under all its names, with reasons, oldest first."""
        return History(self.home.registry.history(self.policy(ref, game).digest))

    def seasons(self) -> Seasons:
        """All seasons, the open one last."""
        self.home.registry.current_season()
        return Seasons(self.home.registry.seasons())

    def authors(self) -> tuple[Author, ...]:
        """Who submits, in the order in which they came."""
        return self.home.registry.authors()
