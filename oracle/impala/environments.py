"""Matches of a learner against a mixture, in lockstep: a step is one decision in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.games.protocol import Game
from arena.kinds.neural import tensors_of
from oracle.impala.opponents import Crew

_SEEDS = 2**62


@dataclass(frozen=True, slots=True)
class Sight:
    """What the learner sees before a decision.

    Attributes:
      inputs: (matches, inputs) of the network.
      legal: (matches, actions).
      playing: (matches,), whether the match goes on; where it does not, the rest means nothing.
    """

    inputs: npt.NDArray[np.float32]
    legal: npt.NDArray[np.bool_]
    playing: npt.NDArray[np.bool_]


class Episodes:
    """Matches whose opponent is drawn from a mixture when they begin, and the learner's seat too.

    Attributes:
      returns: of the matches that ended, in order, in the game's unit.
    """

    def __init__(
        self,
        game: Game,
        crews: Sequence[Crew],
        weights: Sequence[float],
        matches: int,
        rng: np.random.Generator,
    ) -> None:
        """Sets up matches, of which none has begun.

        Args:
          game: what is played.
          crews: the opponents.
          weights: of each in the mixture, adding up to about 1.
          matches: how many are played at once.
          rng: draws opponents, seats and cards.
        """
        self._tensors = tensors_of(game)
        self._field = self._tensors.field(matches)
        self._crews, self._rng = tuple(crews), rng
        self._mixture = np.array(weights) / np.sum(weights)
        self._scale = game.length / game.most
        self._eye = np.eye(len(game.actions))
        self._seat = np.zeros(matches, dtype=np.intp)
        self._opponent = np.zeros(matches, dtype=np.intp)
        self._last = np.zeros((matches, len(game.actions)))
        self._total = np.zeros(matches)
        self.returns: list[float] = []

    def renew(self) -> npt.NDArray[np.intp]:
        """Begins a new match wherever one is over; the rows of these."""
        rows = np.flatnonzero(self._field.over)
        if not rows.size:
            return rows
        self._seat[rows] = self._rng.integers(2, size=rows.size)
        self._opponent[rows] = self._rng.choice(len(self._crews), size=rows.size, p=self._mixture)
        seeds = self._rng.integers(_SEEDS, size=(2, rows.size))
        self._field.begin(rows, seeds[0].tolist())
        for number, crew in enumerate(self._crews):
            own = self._opponent[rows] == number
            if own.any():
                crew.begin(rows[own], seeds[1][own].tolist())
        self._last[rows] = self._total[rows] = 0.0
        self._to_the_learner(np.zeros(len(self._seat)))
        return rows

    def sight(self) -> Sight:
        """What the learner sees."""
        told = self._field.messages[np.arange(len(self._seat)), self._seat]
        playing = ~self._field.over
        rows = np.flatnonzero(playing)
        inputs = np.zeros((len(told), self._tensors.size + len(self._eye)), dtype=np.float32)
        legal = np.ones((len(told), len(self._eye)), dtype=np.bool_)
        inputs[rows] = np.hstack([self._tensors.see(told[rows]), self._last[rows]])
        legal[rows] = self._tensors.legal(told[rows])
        return Sight(inputs, legal, playing)

    def step(self, actions: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        """Takes a decision in every match that goes on.

        Args:
          actions: (matches,); where no match goes on, whatever.

        Returns:
          (matches,) what the learner won until its next decision or the end of the match, as a
          share of the most that one throw or hand can be worth.
        """
        rows = np.flatnonzero(~self._field.over)
        self._last[rows] = self._eye[actions[rows]]
        won = np.zeros(len(self._seat))
        self._advance(rows, actions, won)
        self._to_the_learner(won)
        self._total += won
        ended = rows[self._field.over[rows]]
        self.returns += self._total[ended].tolist()
        return (won * self._scale).astype(np.float32)

    def _to_the_learner(self, won: npt.NDArray[np.float64]) -> None:
        """Plays on wherever only the opponent is asked, and adds up what the learner wins."""
        while True:
            rows = np.flatnonzero(~self._field.over)
            told = self._field.messages[rows, self._seat[rows]]
            rows = rows[~self._tensors.asks(told)]
            if not rows.size:
                return
            self._advance(rows, np.zeros(len(self._seat), dtype=np.intp), won)

    def _advance(
        self,
        rows: npt.NDArray[np.intp],
        actions: npt.NDArray[np.intp],
        won: npt.NDArray[np.float64],
    ) -> None:
        """One tick of these matches, with the learner's actions and the opponents' replies."""
        seat = self._seat[rows]
        replies = np.zeros((len(rows), 2), dtype=np.uint8)
        at = np.arange(len(rows))
        replies[at, seat] = actions[rows]
        told = self._field.messages[rows, 1 - seat]
        asked = self._tensors.asks(told)
        for number, crew in enumerate(self._crews):
            own = np.flatnonzero(asked & (self._opponent[rows] == number))
            if own.size:
                replies[own, 1 - seat[own]] = crew.replies(rows[own], told[own])
        first = self._field.advance(rows, replies)
        won[rows] += np.where(seat == 0, first, -first)
