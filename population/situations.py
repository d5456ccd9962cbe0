"""In which situations one policy gains from another, from the matches that they played.

`situations` tells it of two policies, for people; `population.traces` tells a model more of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.games.protocol import Game
from arena.replay import Stored
from arena.seam import AnyArena

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


@dataclass(frozen=True, slots=True)
class Retold:
    """A match from the view of one policy.

    Attributes:
      stored: the match.
      seat: of the policy.
      gains: what it won in each throw or hand that was completed.
    """

    stored: Stored
    seat: int
    gains: NDArray[np.float64]


def retold(
    arena: AnyArena, game: Game, digest: str, against: str, first: int, below: int
) -> list[Retold]:
    """Retells the first matches of two policies among these repetitions, from the first's view.

    Args:
      arena: where they are stored.
      game: what was played.
      digest: of the policy whose view it is.
      against: digest of the other.
      first: the first repetition.
      below: the repetition after the last.
    """
    rows = arena.matches(game, digest, against=against, limit=None)
    chosen = sorted(
        (row.match.repetition, row.id) for row in rows if first <= row.match.repetition < below
    )
    return [_view(arena.match(match_id), digest) for _, match_id in chosen[:MOST_MATCHES]]


def situations(
    arena: AnyArena, game: Game, digest: str, against: str, below: int
) -> Situations | None:
    """Retells matches of two policies; None where there are none.

    Args:
      arena: where they are stored.
      game: what was played.
      digest: of the policy whose gains these are.
      against: digest of the other.
      below: only repetitions below this one.
    """
    found = retold(arena, game, digest, against, 0, below)
    return summed([one.gains for one in found], game.length) if found else None


def _view(stored: Stored, digest: str) -> Retold:
    seat = 0 if stored.result.match.seats[0] == digest else 1
    totals = np.array(stored.account.totals, dtype=np.float64)
    return Retold(stored, seat, (1.0 - 2.0 * seat) * np.diff(totals, prepend=0.0))


def summed(gains: Sequence[NDArray[np.float64]], length: int) -> Situations:
    """Adds up what was gained in some matches.

    Args:
      gains: of each match, at least one.
      length: throws or hands of a whole match.
    """
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
