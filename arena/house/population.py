"""The fixed opponents that every policy is measured against.

PopReturn and PopExpl mean something only next to the population they were computed on.  So the
populations are frozen and named; a new one gets a new number, and clones of a policy that
somebody submits cannot move anybody's score.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.errors import UsageFault
from arena.games import GAMES
from registry import Submission, digest_of


@dataclass(frozen=True, slots=True)
class Population:
    """A frozen evaluation population.

    Attributes:
      name: with its number, as in "rrps-43@1".
      game: name of the game.
      members: names of the policies, in alphabetical order.
      digests: their identities, in the same order.
    """

    name: str
    game: str
    members: tuple[str, ...]
    digests: tuple[str, ...]


@functools.cache
def _populations() -> Mapping[str, Population]:
    found = {}
    for game in GAMES.values():
        digests = {one.name: _digest(one) for one in game.house()}
        for name, members in game.populations.items():
            chosen = tuple(digests[member] for member in members)
            found[name] = Population(name, game.name, members, chosen)
    return MappingProxyType(found)


def population(name: str) -> Population:
    """The population of that name.

    Raises:
      UsageFault: there is none.
    """
    found = _populations().get(name)
    if found is None:
        known = ", ".join(sorted(_populations()))
        raise UsageFault(f"there is no evaluation population {name!r}; there are: {known}")
    return found


def default_population(game: str) -> Population:
    """The population that a game's scores are reported on.

    Raises:
      UsageFault: the game has none.
    """
    if game not in GAMES or not GAMES[game].populations:
        raise UsageFault(f"no evaluation population was fixed for the game {game!r}")
    return population(list(GAMES[game].populations)[-1])


def population_of(game: str, name: str | None) -> Population:
    """The population of that name; the game's own where none is named.

    Raises:
      UsageFault: there is none, or it is another game's.
    """
    chosen = population(name) if name else default_population(game)
    if chosen.game != game:
        raise UsageFault(f"{chosen.name} is a population of {chosen.game}, not of {game}")
    return chosen


def _digest(entrant: Submission) -> str:
    return digest_of(entrant.game, entrant.kind, entrant.payload)
