"""What newcomers and attempts returned against a meta-strategy, with 95 % intervals.

Matches that were all alike are no certainty here either (see `arena.analysis.stakes`); what matches
of the game differ by is taken from the u itself, so that it is told alike in every home.
"""

from __future__ import annotations

import math

import numpy as np

from arena.analysis.estimates import Estimate, around, freedom_of
from arena.analysis.stakes import doubted, stakes_of
from arena.figures.text import labelled, signed
from arena.games.protocol import Game
from arena.payoffs import Scatter
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


def meaning(config: RunConfig) -> str:
    """What attempts of such a run are compared by, for people."""
    if not config.hidden_share:
        return "u: expected return against the meta-strategy of the iteration's beginning."
    return (
        "u of an attempt: expected return by which it was chosen, against the meta-strategy of the "
        f"iteration's beginning, and with a share of {config.hidden_share:g} against hidden "
        "opponents. The u of an iteration is against the meta-strategy alone, by other matches."
    )


def told(estimate: Estimate) -> str:
    """An estimate and its interval in a line."""
    return f"{signed(estimate.value)}, {labelled(estimate)}"


def _around(u: float, stderr: float | None, matches: int, game: Game) -> Estimate:
    deals = np.array([matches // 2 if game.has_deals else matches])
    error = np.array([math.nan if stderr is None else stderr])
    error = doubted(error, deals, Scatter.of(error, deals), stakes_of(game))
    return around(np.array([u]), error, freedom_of(deals))[0].within(game.most)
