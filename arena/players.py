"""Who sits down when some versions play: themselves, and the members of mixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from arena.kinds.mixture import draw, weights_of
from arena.plan import Player
from registry import Registry
from registry.values import PolicyVersion

DEEPEST = 32
"""Mixtures of mixtures of ...; digests of contents cannot form a cycle, but nothing may hang."""


def members_of(registry: Registry, versions: Iterable[PolicyVersion]) -> dict[str, Player]:
    """Every policy that can sit down when these versions play."""
    players: dict[str, Player] = {}
    queue = list(versions)
    while queue:
        version = queue.pop()
        if version.digest in players:
            continue
        players[version.digest] = Player(version.digest, version.kind, version.payload)
        if version.kind == "mixture":
            queue.extend(registry.by_digests(weights_of(version.payload)).values())
    return players


def resolver(players: Mapping[str, Player]) -> Callable[[str, int], str]:
    """(digest, seed of the draw) -> the digest that really plays: mixtures draw per match.

    The function raises `ValueError` for mixtures that are nested deeper than `DEEPEST`.
    """

    def resolve(digest: str, seed: int) -> str:
        player = players[digest]
        for _ in range(DEEPEST + 1):
            if player.kind != "mixture":
                return player.digest
            player = players[draw(player.payload, seed)]
        raise ValueError(f"the mixture {digest} is nested deeper than {DEEPEST}")

    return resolve
