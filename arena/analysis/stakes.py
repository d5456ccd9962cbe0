"""What the returns of a game can be: what few deals, all alike, may still hide.

Where all deals so far came out the same, their spread is 0, and nothing says that the next will
be the same: two draws in Kuhn poker are no proof of a draw.  So no mean is taken as exact.  With n
deals its standard error is at least s / n, where s is the spread of a deal that all stored matches
show: the error that a spread of s would leave if what was seen were one of n kinds of deals (a
variance of s^2 / n, which n deals would halve again and again).  It shrinks faster than an error
that is estimated (s / sqrt(n)), so what really is always the same is known soon.  The spread is of
all that a home has stored, so that a policy has one interval, whoever else a table shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.games.protocol import Game
from arena.payoffs import Scatter

Floats = NDArray[np.float64]

_SHARE = 40.0
"""A score is measured when its 95 % interval reaches no further than this part of `most`."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """What a match can be worth.

    Attributes:
      most: the largest return of a match, in the game's unit; infinite where it is not known.
      spread: standard deviation of a match whose throws or hands are independent and each worth
        the most: what is assumed of deals before any are seen.
    """

    most: float = math.inf
    spread: float = 0.0

    @property
    def precision(self) -> float:
        """How far the 95 % interval of a score may reach before it is called provisional."""
        return self.most / _SHARE


UNKNOWN = Stakes()
"""Of returns that come from no game: nothing is assumed, and equal deals are taken as exact."""


def stakes_of(game: Game) -> Stakes:
    """The stakes of a match of a game."""
    return Stakes(game.most, game.most / math.sqrt(game.length))


def doubted(stderr: Floats, deals: NDArray[np.integer], scatter: Scatter, stakes: Stakes) -> Floats:
    """Standard errors of means over deals, none smaller than few deals can tell.

    Args:
      stderr: any shape, NaN where not known.
      deals: same shape.
      scatter: of the deals of all that is known (`PayoffTable.scatter`); what the stakes assume
        counts as one degree of freedom more.
      stakes: of the game.

    Returns:
      The larger of each error and s / n; NaN stays, and so does what was not played.
    """
    if stakes == UNKNOWN:
        return stderr
    spread = math.sqrt((stakes.spread**2 + scatter.squares) / (1.0 + scatter.freedom))
    floor = np.where(deals > 0, spread / np.maximum(deals, 1), 0.0)
    return np.where(np.isnan(stderr), np.nan, np.maximum(stderr, floor))
