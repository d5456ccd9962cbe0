"""In which situations one policy gains from another, from the matches that they played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.games.protocol import Game
from arena.seam import Tournament

QUARTERS = 4
MOST_MATCHES = 40
"""So many are retold: retelling a thousand throws takes the engine tens of milliseconds."""


@dataclass(frozen=True, slots=True)
class Situations:
    """Where a policy gains, in the game's unit per match; what was forfeited does not count.

    Attributes:
      quarters: in each quarter of a match; what it learns shows here.
      at_first: in the first throw or hand.
      after_won: in those that follow one that it won.
      after_drawn: likewise.
      after_lost: likewise.  These four add up to what the quarters add up to.
      matches: that this was taken from.
    """

    quarters: tuple[float, ...]
    at_first: float
    after_won: float
    after_drawn: float
    after_lost: float
    matches: int


def situations(
    arena: Tournament, game: Game, digest: str, against: str, below: int
) -> Situations | None:
    """Retells matches of two policies; None where there are none.

    Args:
      arena: where they are stored.
      game: what was played.
      digest: of the policy whose gains these are.
      against: digest of the other.
      below: only repetitions below this one.
    """
    rows = arena.matches(game, digest, against=against, limit=None)
    chosen = sorted((row.match.repetition, row.id) for row in rows if row.match.repetition < below)
    gains = [_gains(arena, match_id, digest) for _, match_id in chosen[:MOST_MATCHES]]
    return _summed(gains, game.length) if gains else None


def _gains(arena: Tournament, match_id: str, digest: str) -> NDArray[np.float64]:
    """What a policy gained in each throw or hand of a match."""
    stored = arena.match(match_id)
    sign = 1.0 if stored.result.match.seats[0] == digest else -1.0
    return sign * np.diff(np.array(stored.account.totals, dtype=np.float64), prepend=0.0)


def _summed(gains: Sequence[NDArray[np.float64]], length: int) -> Situations:
    quarters = np.zeros(QUARTERS)
    followed = {1.0: 0.0, 0.0: 0.0, -1.0: 0.0}
    first = 0.0
    for one in gains:
        np.add.at(quarters, np.arange(len(one)) * QUARTERS // length, one)
        first += one[:1].sum()
        for sign in followed:
            followed[sign] += one[1:][np.sign(one[:-1]) == sign].sum()
    count = len(gains)
    return Situations(
        tuple((quarters / count).tolist()),
        float(first / count),
        float(followed[1.0] / count),
        float(followed[0.0] / count),
        float(followed[-1.0] / count),
        count,
    )
