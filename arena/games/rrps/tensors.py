"""Repeated rock-paper-scissors as numbers, for networks.

An observation is the opponent's last throw, one of three.  With its own last action, which every
network is given, that is OpenSpiel's `observation_tensor()` of the repeated game with recall 1, in
the order of the player who looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.games.parts import Learning, Tensors
from arena.games.rrps.engine import payoff_matrix
from arena.games.rrps.table import ACTIONS, FIRST_THROW, IDLE, LENGTH, MESSAGE_BYTES

_NUMBER = {name: number for number, name in enumerate(ACTIONS)}
_ROWS = np.vstack([np.eye(len(ACTIONS)), np.zeros((256 - len(ACTIONS), len(ACTIONS)))])
"""A message's byte to the observation."""

LEARNING = Learning(
    learning_rate=0.0001,
    hidden=(256, 128),
    unroll=20,
    entropy_cost=0.001,
    batch=16,
    max_gradient_norm=40.0,
)
"""The CSRO paper's PSRO-IMPALA in this game: the table "Hyperparameters in RRPS"."""


def asks(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Messages (n, 1) to (n,)."""
    asked: npt.NDArray[np.bool_] = messages[:, 0] != IDLE
    return asked


def see(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Messages (n, 1) to observations (n, 3)."""
    return _ROWS[messages[:, 0]]


def legal(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Every throw is legal, always: (n, 3)."""
    return np.ones((len(messages), len(ACTIONS)), dtype=np.bool_)


class Author:
    """An author's class that answers by a function of messages."""

    def __init__(self, reply: Callable[[bytes], int]) -> None:
        self._reply = reply

    def act(self, observation: Mapping[str, Any]) -> str:
        """The next throw."""
        theirs = observation["opponent_action"]
        message = FIRST_THROW if theirs is None else _NUMBER[theirs]
        return ACTIONS[self._reply(bytes((message,)))]


class Throws:
    """Matches as arrays; a `arena.games.parts.Field`."""

    def __init__(self, matches: int) -> None:
        self.messages = np.full((matches, 2, MESSAGE_BYTES), IDLE, dtype=np.uint8)
        self.over = np.ones(matches, dtype=np.bool_)
        self._throws = np.zeros(matches, dtype=np.int64)
        self._payoffs = np.array(payoff_matrix(), dtype=np.float64)

    def begin(self, matches: npt.NDArray[np.intp], deal_seeds: Sequence[int]) -> None:
        """See `Field`; nothing is dealt here."""
        self.messages[matches] = FIRST_THROW
        self.over[matches] = False
        self._throws[matches] = 0

    def advance(
        self, matches: npt.NDArray[np.intp], replies: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float64]:
        """See `Field`."""
        self._throws[matches] += 1
        self.messages[matches, 0, 0] = replies[:, 1]
        self.messages[matches, 1, 0] = replies[:, 0]
        ended = matches[self._throws[matches] == LENGTH]
        self.over[ended] = True
        self.messages[ended] = IDLE
        return self._payoffs[replies[:, 0], replies[:, 1]]


TENSORS = Tensors(
    version="rrps-1",
    size=len(ACTIONS),
    asks=asks,
    see=see,
    legal=legal,
    author=Author,
    field=Throws,
    learning=LEARNING,
)
"""The game as numbers."""
