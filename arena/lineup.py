"""Who meets whom in a round robin, and who is left out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.kinds.asked import KIND
from arena.nesting import Weights, mixtures_of
from arena.schedule import pairs_among
from arena.tally import Pair
from registry import Registry
from registry.values import Status


@dataclass(frozen=True, slots=True)
class Lineup:
    """The pairs of a round robin.

    Attributes:
      pairs: of entrants, mixtures among them.
      mixtures: of the game: digest to the weights of the members that play in its place.
      left_out: references of entrants that nobody here can play: those that are asked for their
        moves, and mixtures with such members.
    """

    pairs: tuple[Pair, ...]
    mixtures: Mapping[str, Weights]
    left_out: tuple[str, ...] = ()


def lineup(registry: Registry, game: str, named: Sequence[str], *, answered: bool) -> Lineup:
    """The pairs among all qualified policies, or those of the named ones.

    Args:
      registry: who takes part.
      game: name of the game.
      named: digests of entrants, as in `pairs_among`.  They are never left out, nor are their
        members: where nobody answers for one of them, the runner says so.
      answered: whether somebody here answers for policies that are asked for their moves.
    """
    mixtures = mixtures_of(registry, game)

    def players(digest: str) -> set[str]:
        return set(mixtures.get(digest, (digest,)))

    mute = set() if answered else {one.digest for one in registry.find(game, kind=KIND)}
    mute -= {player for digest in named for player in players(digest)}
    qualified = registry.find(game, status=Status.QUALIFIED)
    # Several that are named play among themselves: nobody is left out of that.
    silent = [
        one for one in qualified if len(named) < 2 and not mute.isdisjoint(players(one.digest))
    ]
    left_out = {one.digest for one in silent}
    everybody = [one.digest for one in qualified if one.digest not in left_out]
    return Lineup(tuple(pairs_among(everybody, named)), mixtures, tuple(one.ref for one in silent))
