"""What a leaderboard can be ordered by, in words: help texts need no more than this."""

from __future__ import annotations

import enum


class RankBy(enum.StrEnum):
    """What a leaderboard is ordered by."""

    AGG_SCORE = "agg_score"
    POP_RETURN = "pop_return"
    POP_EXPL = "pop_expl"
    """Plain PopExpl, the smallest first."""
    RATING = "rating"
    """TrueSkill's conservative estimate; needs ratings."""
    MEAN_RETURN = "mean_return"
    """Mean over all opponents played: who else takes part moves it."""


RANKINGS: tuple[str, ...] = tuple(ranking.value for ranking in RankBy)

NASH_RULE = "among the mixtures that are Nash within the noise, the one of the largest mean payoff"
"""What the column of the Nash mass is."""
