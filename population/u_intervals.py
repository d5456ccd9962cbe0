"""What newcomers and attempts returned against a meta-strategy, with 95 % intervals."""

from __future__ import annotations

import math

import numpy as np

from arena.analysis.estimates import Estimate, around
from arena.figures.text import labelled, signed
from arena.games.protocol import Game
from oracle.values import Score
from population.config import RunConfig
from population.records import Iteration


def of_iteration(one: Iteration, config: RunConfig, game: Game) -> Estimate | None:
    """The newcomer's u; None where none joined.  It rests on as many matches as a candidate plays.

    Args:
      one: the iteration.
      config: of its run.
      game: that is played.
    """
    return None if one.u is None else _around(one.u, one.stderr, config.matches.evaluation, game)


def of_score(score: Score, game: Game) -> Estimate:
    """The u of an attempt, by the matches that it played."""
    return _around(score.u, score.stderr, sum(one.matches for one in score.against), game)


def told(estimate: Estimate) -> str:
    """An estimate and its interval in a line."""
    return f"{signed(estimate.value)}, {labelled(estimate)}"


def _around(u: float, stderr: float | None, matches: int, game: Game) -> Estimate:
    deals = matches // 2 if game.has_deals else matches
    error = math.nan if stderr is None else stderr
    return around(np.array([u]), np.array([error]), np.array([max(deals - 1.0, 1.0)]))[0]
