"""Where everything random comes from: the secret of a season.

Every seed is a keyed hash (BLAKE2b, RFC 7693) of what it is for, under a key that the registry
keeps and no policy, opponent or export ever sees.  Without the key nobody can tell from a stream
of random numbers who the opponent is, which repetition is played or what will be dealt, and
nobody can play a tournament at home before handing a policy in.  With the key everything can be
played again: whoever holds it gets the same matches, move for move.

A season ends when its key is revealed (`arena seed reveal`): from then on anybody can check its
matches, and whatever is played later has another key.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from arena.errors import SeedsUnknown
from arena.values import SEED_BITS, Match
from registry.values import Season

AUDIT_SHARE = 1 / 64
"""How many of the matches with a Python policy are played a second time."""
_WHOLE = 1 << 64


@dataclass(frozen=True, slots=True)
class MatchSeeds:
    """What chance decides in one match, 63 bits each.

    Attributes:
      deal: of the cards.
      seats: of the random choices of the policies in seats 0 and 1.
      members: of the draws among the members of mixtures in seats 0 and 1.
    """

    deal: int
    seats: tuple[int, int]
    members: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of one season."""

    season: Season

    def deal(self, match: Match) -> int:
        """Seed of the deal; the two halves of a duplicate have the same one."""
        if self.season.key is None:
            return match.public_deal_seed
        return self._seed("deal", match.game, match.game_version, *match.dealt_from)

    def of(self, match: Match) -> MatchSeeds:
        """Everything that a match needs to be played.

        Raises:
          SeedsUnknown: it belongs to the time before seeds were secret.
        """
        name = match.id  # made anew each time
        seats = (self._seed("seat", name, 0), self._seed("seat", name, 1))
        members = (self._seed("member", name, 0), self._seed("member", name, 1))
        return MatchSeeds(self.deal(match), seats, members)

    def audits(self, match: Match) -> bool:
        """Whether this match is one of those that are played a second time.

        Nobody without the key can tell which they are.
        """
        return self._draw("audit", match.id) < AUDIT_SHARE * _WHOLE

    def choice(self, purpose: str, what: str, among: int) -> int:
        """A number below `among`, the same whenever it is asked for."""
        return self._draw("choice", purpose, what) % among

    def _seed(self, *what: object) -> int:
        return self._draw(*what) >> (64 - SEED_BITS)

    def _draw(self, *what: object) -> int:
        """64 bits."""
        key = self.season.key
        if key is None:
            raise SeedsUnknown(
                f"season {self.season.number} was played before seeds were secret, by an earlier "
                "version of the arena; its matches can be retold, but not played again"
            )
        text = "\x1f".join(str(part) for part in what)
        return int.from_bytes(hashlib.blake2b(text.encode(), key=key, digest_size=8).digest())
