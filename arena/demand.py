"""What policies take of a machine, learnt from the matches that they play.

Matches that share a sandbox block wait for each other at every throw, so each process of the block
is woken once for all of its matches.  The more matches, the less a throw costs; what a block may
not do is to take minutes, as it is lost when its worker dies, or to hold more memory than there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demand:
    """What one policy takes for one match.

    Attributes:
      seconds: of processor time.
      mebibytes: of memory at the end of the match, or shortly before it was ended for that; 0
        where it was not measured.
    """

    seconds: float
    mebibytes: float

    def __add__(self, other: Demand) -> Demand:
        return Demand(self.seconds + other.seconds, self.mebibytes + other.mebibytes)

    def times(self, factor: float) -> Demand:
        """So much of it."""
        return Demand(self.seconds * factor, self.mebibytes * factor)


UNKNOWN = Demand(0.1, 2.0)
"""Of all while none was seen yet: more than most take, so that the first block is not large."""
CAUTION = 2.0
"""How much more than the mean of those that were seen one is taken for that was not."""
NOTHING = Demand(0.0, 0.0)


class Demands:
    """The latest demands of policies, by digest.

    Attributes:
      version: grows whenever something was learnt.
    """

    def __init__(self) -> None:
        self._known: dict[str, Demand] = {}
        self._guess = UNKNOWN
        self.version = 0

    def of(self, digest: str) -> Demand:
        """What a policy takes for a match; a guess by all others where nothing is known of it."""
        return self._known.get(digest, self._guess)

    def learn(self, seen: Mapping[str, Demand]) -> None:
        """Goes halfway to what was seen last, as machines and opponents differ."""
        for digest, demand in seen.items():
            known = self._known.get(digest)
            self._known[digest] = demand if known is None else (known + demand).times(0.5)
        if seen:
            total = sum(self._known.values(), NOTHING)
            self._guess = total.times(CAUTION / len(self._known))
            self.version += 1


def mean_demands(played: Mapping[str, list[Demand]]) -> dict[str, Demand]:
    """The means over matches, by digest."""
    return {
        digest: sum(demands, NOTHING).times(1.0 / len(demands))
        for digest, demands in played.items()
    }
