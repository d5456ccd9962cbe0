"""OpenSpiel's side of repeated rock-paper-scissors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from arena.games.rrps.table import ACTIONS, LENGTH

ENGINE_STAGE = "matrix_rps"
"""OpenSpiel's name of the game that is repeated."""


@functools.cache
def payoff_matrix() -> npt.NDArray[np.int64]:
    """OpenSpiel's payoffs of one throw.

    Returns:
      (3, 3), what seat 0 (row) wins against seat 1 (column).
    """
    stage = pyspiel.load_matrix_game(ENGINE_STAGE)
    size = len(ACTIONS)
    payoffs = [[stage.player_utility(0, row, col) for col in range(size)] for row in range(size)]
    return np.array(payoffs).astype(np.int64)


def engine_match() -> Any:
    """A fresh state of the engine's 1000-throw game."""
    return _engine_game().new_initial_state()


@functools.cache
def _engine_game() -> Any:
    return pyspiel.load_game(f"repeated_game(stage_game={ENGINE_STAGE}(),num_repetitions={LENGTH})")
