"""The kinds that the arena plays itself, outside of any sandbox, because it vouches for them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arena.games.protocol import Game
from arena.kinds.native import native_policy
from arena.kinds.neural import neural_policy
from arena.kinds.protocol import PolicyFactory
from arena.kinds.tabular import tabular_policy

FACTORIES: Mapping[str, PolicyFactory] = MappingProxyType(
    {"native": native_policy, "neural": neural_policy, "tabular": tabular_policy}
)
"""Kind to what makes its instances."""


def host_policy(game: Game, kind: str, payload: str, seed: int) -> Any:
    """One instance of a trusted policy for one seat of one match.

    Args:
      game: what it plays.
      kind: a key of `FACTORIES`.
      payload: of the policy's version.
      seed: of everything that it leaves to chance (63 bits, `Match.seat_seed`).

    Raises:
      ValueError: the kind is not one that the arena plays itself, or the payload is not of it
        and of this game.
    """
    if kind not in FACTORIES:
        raise ValueError(f"the arena does not play {kind!r} policies itself")
    return FACTORIES[kind](game, payload, seed)
