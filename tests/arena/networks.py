"""Networks that nobody trained, for tests of how networks play."""

from __future__ import annotations

import numpy as np

from arena.games import Game
from arena.kinds.neural import architecture_of, payload_of
from arena.kinds.weights_file import WeightsFile, written


def random_file(
    game: Game, seed: int, hidden: tuple[int, ...] = (16, 8), scale: float = 1.0
) -> bytes:
    """A file of normally distributed weights, in single precision."""
    architecture, rng = architecture_of(game, hidden), np.random.default_rng(seed)
    arrays = {
        name: np.clip(rng.normal(0.0, scale, shape), -7.9, 7.9).astype("<f4")
        for name, shape in architecture.shapes.items()
    }
    return written(WeightsFile(architecture.header, arrays))


def random_payload(
    game: Game, seed: int, hidden: tuple[int, ...] = (16, 8), scale: float = 1.0
) -> str:
    """The payload of such a network."""
    return payload_of(game, random_file(game, seed, hidden, scale))
