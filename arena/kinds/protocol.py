"""What a kind of policy is to the arena when the arena itself plays it."""

from __future__ import annotations

from typing import Any, Protocol

from arena.games.protocol import Game


class PolicyFactory(Protocol):
    """Makes one instance of a trusted policy, for one seat of one match.

    The instance obeys its game's author contract (`Game.contract`), as an author's class would.
    The same payload and seed always give the same play, whatever else the process does.
    """

    def __call__(self, game: Game, payload: str, seed: int) -> Any:
        """Makes an instance.

        Args:
          game: what it plays.
          payload: of the policy's version.
          seed: of everything that the policy leaves to chance (63 bits, `Match.seat_seed`).

        Raises:
          ValueError: the payload is not one of this kind and game.
        """
        ...
