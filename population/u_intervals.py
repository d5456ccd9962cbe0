"""What newcomers and attempts returned against a meta-strategy, with 95 % intervals.

Matches that were all alike are no certainty here either (see `arena.analysis.stakes`); what matches
of the game differ by is taken from the u itself, so that it is told alike in every home.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from arena.analysis.estimates import Estimate, around, freedom_of, weighted_sum_of
from arena.analysis.stakes import doubted, stakes_of
from arena.figures.text import labelled, signed
from arena.games.protocol import Game
from arena.payoffs import Scatter
from oracle.values import Against, Score
from population.config import RunConfig
from population.records import Iteration


def of_iteration(one: Iteration, config: RunConfig, game: Game) -> Estimate | None:
    """The newcomer's u; None where none joined.

    Of an earlier program's run it is only known how many matches a candidate plays in all.

    Args:
      one: the iteration.
      config: of its run.
      game: that is played.
    """
    if one.u is not None and one.stderr is not None and one.against:
        return of_score(Score(one.u, one.stderr, one.against), game)
    return None if one.u is None else _around(one.u, one.stderr, config.matches.evaluation, game)


def forfeits_of(against: Sequence[Against]) -> int:
    """How many of the matches behind a u its opponents forfeited."""
    return sum(one.forfeited for one in against)


def forfeits_told(against: Sequence[Against], who: str = "members") -> str:
    """The same in words, "" for none."""
    given, played = forfeits_of(against), sum(one.matches for one in against)
    return f"{who} forfeited {given} of {played} matches" if given else ""


def remark(one: Iteration) -> str:
    """What to know beside an iteration's u: what members forfeited, and that nobody new joined."""
    already = "is a member already" if one.accepted in one.sigma.weights else ""
    return ", ".join(filter(None, (forfeits_told(one.against), already)))


def remarks(iterations: Sequence[Iteration]) -> list[str]:
    """Those of a whole run; where some are of forfeits, it says of whom these were not kept.

    An earlier program kept who joined with their u alone.
    """
    known = any(forfeits_of(one.against) for one in iterations)
    lost = [known and one.u is not None and not one.against for one in iterations]
    return [
        ", ".join(filter(None, (remark(one), "forfeits were not kept" if gone else "")))
        for one, gone in zip(iterations, lost, strict=True)
    ]


def of_score(score: Score, game: Game) -> Estimate:
    """The u of an attempt, by the matches that it played.

    It is a sum over opponents, each met in few matches, and one of them may bring nearly all of its
    error: then the error is known as badly as that one's.  A score that was kept without their
    parts in it counts as one mean over all matches.
    """
    weights = [one.weight for one in score.against]
    if None in weights or not weights:
        return _around(score.u, score.stderr, sum(one.matches for one in score.against), game)
    deals = np.array([[deals_of(one.matches, game) for one in score.against]])
    error = np.array([[one.stderr for one in score.against]])
    error = doubted(error, deals, Scatter.of(error, deals), stakes_of(game))
    parts, means = np.array([weights]), np.array([[one.mean for one in score.against]])
    summed = weighted_sum_of(parts, means, error, np.maximum(freedom_of(deals), 1.0))
    more = score.stderr**2 - float(summed.stderr[0]) ** 2
    if not more > 0.0 or math.isinf(more):
        error = np.maximum(summed.stderr, score.stderr)
        return around(np.array([score.u]), error, summed.freedom)[0].within(game.most)
    # A sample of the hidden opponents brings this, met by all but few of those here; and the u of a
    # race's loser is another's and a difference to it.
    errors = np.array([[summed.stderr[0], math.sqrt(more)]])
    freedom = np.array([[summed.freedom[0], max(1.0, len(score.against) - 2.0)]])
    told = weighted_sum_of(np.ones((1, 2)), np.array([[score.u, 0.0]]), errors, freedom)
    return told[0].within(game.most)


def deals_of(matches: int, game: Game) -> int:
    """Independent samples in so many matches: the two halves of a duplicate are one."""
    return -(-matches // 2) if game.has_deals else matches


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
    deals = np.array([deals_of(matches, game)])
    error = np.array([math.nan if stderr is None else stderr])
    error = doubted(error, deals, Scatter.of(error, deals), stakes_of(game))
    return around(np.array([u]), error, freedom_of(deals))[0].within(game.most)
