"""The fixed opponents that every policy is measured against.

PopReturn and PopExpl mean something only next to the population they were computed on.  So the
populations are frozen and named; a new one gets a new number, and clones of a policy that
somebody submits cannot move anybody's score.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from arena.errors import UsageFault
from arena.house import house_submissions
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


_MEMBERS = {
    "rrps-43@1": ("rrps", None),
    "leduc-3@1": ("leduc", ("house/AlwaysCall", "house/AlwaysFold", "house/CFR+")),
}
"""Name to game and members; None for all of the house."""
_DEFAULT = {"rrps": "rrps-43@1", "leduc": "leduc-3@1"}


@functools.cache
def population(name: str) -> Population:
    """The population of that name.

    Raises:
      UsageFault: there is none.
    """
    if name not in _MEMBERS:
        known = ", ".join(sorted(_MEMBERS))
        raise UsageFault(f"there is no evaluation population {name!r}; there are: {known}")
    game, chosen = _MEMBERS[name]
    house = {entrant.name: entrant for entrant in house_submissions(game)}
    members = tuple(sorted(house)) if chosen is None else chosen
    return Population(name, game, members, tuple(_digest(house[member]) for member in members))


def default_population(game: str) -> Population:
    """The population that a game's scores are reported on.

    Raises:
      UsageFault: the game has none.
    """
    if game not in _DEFAULT:
        raise UsageFault(f"no evaluation population was fixed for the game {game!r}")
    return population(_DEFAULT[game])


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
