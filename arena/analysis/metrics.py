"""How good a policy is against a fixed evaluation population.

PopReturn is the mean payoff over the population, PopExpl the loss to its worst member, AggScore
the difference (Lanctot et al. 2023, "Population-based evaluation in repeated rock-paper-scissors
as a benchmark for multiagent reinforcement learning", arXiv:2303.03196).  A policy that is in the
population itself meets itself with a payoff of 0, known exactly.

PopExpl and AggScore take a minimum over noisy means, so as plain numbers they look worse than the
truth (a policy that draws with all 43 bots shows a PopExpl of 15 at 16 matches a bot).  Their
intervals allow for it (see `estimates.minimum_of`).  The cross-fitted PopExpl is free of it: one
half of the deals names the worst opponent, the other half says what it won, which is at most the
true PopExpl on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.analysis.estimates import (
    Estimate,
    Estimates,
    Floats,
    around,
    freedom_of,
    mean_of,
    minimum_of,
)
from arena.analysis.stakes import UNKNOWN, Stakes, doubted
from arena.payoffs import PayoffTable


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """Payoffs of r policies (rows) against a population of m; units per match of the game.

    Where a policy meets itself: mean and error 0, degrees of freedom infinite.

    Attributes:
      mean: (r, m), NaN where nothing was played.
      stderr: (r, m), NaN where not known.
      freedom: (r, m) degrees of freedom of the standard error.
      half_mean: (2, r, m) the same on two disjoint halves of the deals.
      half_stderr: (2, r, m).
      half_freedom: (2, r, m).
      stakes: of a match; intervals do not leave what it allows.
    """

    mean: Floats
    stderr: Floats
    freedom: Floats
    half_mean: Floats
    half_stderr: Floats
    half_freedom: Floats
    stakes: Stakes = UNKNOWN

    @property
    def complete(self) -> NDArray[np.bool_]:
        """(r,) whether a policy met the whole population."""
        return np.array(np.isfinite(self.mean).all(axis=1), ndmin=1)


def meetings(
    table: PayoffTable,
    digests: Sequence[str],
    population: Sequence[str],
    stakes: Stakes = UNKNOWN,
) -> Meetings:
    """Looks up some policies against a population; whoever is not in the table never played.

    Args:
      table: payoffs.
      digests: the r policies.
      population: the m members.
      stakes: of a match; with them no mean is taken as exact (see `arena.analysis.stakes`).
    """
    index = table.index()
    rows = np.array([index.get(digest, -1) for digest in digests], dtype=np.intp)[:, None]
    columns = np.array([index.get(digest, -1) for digest in population], dtype=np.intp)
    unknown = (rows < 0) | (columns < 0)
    itself = np.array(digests, dtype=object)[:, None] == np.array(population, dtype=object)

    def cells(array: NDArray[Any]) -> NDArray[Any]:
        if not table.digests:
            return np.full((*array.shape[:-2], *unknown.shape), np.nan)
        return array[..., rows, columns]

    def known(values: Floats, at_home: float) -> Floats:
        found = np.where(unknown, np.nan, values)
        found[..., itself] = at_home
        return found

    scatter, deals, half_deals = table.scatter, cells(table.deals), cells(table.half_deals)
    return Meetings(
        mean=known(cells(table.mean), 0.0),
        stderr=known(doubted(cells(table.stderr), deals, scatter, stakes), 0.0),
        freedom=known(freedom_of(deals), np.inf),
        half_mean=known(cells(table.half_mean), 0.0),
        half_stderr=known(doubted(cells(table.half_stderr), half_deals, scatter, stakes), 0.0),
        half_freedom=known(freedom_of(half_deals), np.inf),
        stakes=stakes,
    )


def pop_return(mean: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """Mean payoff over the population: (r, m) arrays as in `Meetings` to (r,) estimates."""
    return mean_of(mean, stderr, freedom)


def pop_expl(mean: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """Loss to the worst member, plain: (r, m) arrays as in `Meetings` to (r,) estimates."""
    return -minimum_of(mean, stderr, freedom)


def agg_score(mean: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """PopReturn - PopExpl: (r, m) arrays as in `Meetings` to (r,) estimates.

    It is the smallest, over the members j, of mean over all + payoff against j, so it is treated
    as one minimum of m estimates; those contain the payoff against j with weight 1 + 1/m, and so
    are given that payoff's degrees of freedom, which is cautious.
    """
    m = mean.shape[1]
    average = mean_of(mean, stderr, freedom)
    error = np.hypot(average.stderr[:, None], stderr * np.sqrt(1.0 + 2.0 / m))
    cautious = np.where(stderr == 0.0, average.freedom[:, None], freedom)
    return minimum_of(average.value[:, None] + mean, error, cautious)


def pop_expl_cross_fitted(
    half_mean: Floats, half_stderr: Floats, half_freedom: Floats
) -> Estimates:
    """Loss to the member that the other half of the deals calls the worst, both ways, averaged.

    Its expectation is the loss to a member chosen without looking, so it is at most the true
    PopExpl and near it as soon as half of the deals find one of the worst members.  The interval
    is of that loss; where the two halves often name different members it covers 92 rather than
    95 %, because agreeing and losing go together.

    Args:
      half_mean: (2, r, m) as in `Meetings`.
      half_stderr: (2, r, m).
      half_freedom: (2, r, m).

    Returns:
      (r,) estimates; NaN where a half is missing.
    """
    named = half_mean[::-1].argmin(axis=2)[..., None]
    value, error, freedom = (
        np.take_along_axis(array, named, axis=2)[..., 0].T
        for array in (half_mean, half_stderr, half_freedom)
    )
    fitted = mean_of(value, error, freedom)
    # argmin names a NaN first, but the other half may have a number there.
    blank = np.where(np.isnan(half_mean).any(axis=(0, 2)), np.nan, 0.0)
    return -Estimates(
        fitted.value + blank,
        fitted.stderr + blank,
        fitted.low + blank,
        fitted.high + blank,
        fitted.freedom,
    )


@dataclass(frozen=True, slots=True, eq=False)
class PopulationMetrics:
    """The metrics of r policies; NaN in the rows of those that did not meet the whole population.

    Attributes:
      complete: (r,) whether a policy met every member.
      pop_return: (r,) estimates.
      pop_expl: (r,) plain.
      pop_expl_cross_fitted: (r,).
      agg_score: (r,) PopReturn minus plain PopExpl.
    """

    complete: NDArray[np.bool_]
    pop_return: Estimates
    pop_expl: Estimates
    pop_expl_cross_fitted: Estimates
    agg_score: Estimates


def population_metrics(met: Meetings) -> PopulationMetrics:
    """All metrics of all rows.

    Raises:
      ValueError: the population is empty.
    """
    if met.mean.shape[1] == 0:
        raise ValueError("an evaluation population needs at least one policy")
    # argmin and min return NaN where a row has any, so incomplete rows come out as NaN.
    whole, most = (met.mean, met.stderr, met.freedom), met.stakes.most
    return PopulationMetrics(
        complete=met.complete,
        pop_return=pop_return(*whole).within(most),
        pop_expl=pop_expl(*whole).within(most),
        pop_expl_cross_fitted=pop_expl_cross_fitted(
            met.half_mean, met.half_stderr, met.half_freedom
        ).within(most),
        agg_score=agg_score(*whole).within(2.0 * most),
    )


@dataclass(frozen=True, slots=True)
class AgainstOpponent:
    """A policy's results against one member of the population.

    Attributes:
      digest: of the opponent.
      payoff: mean return per match; None where they never met.
      matches: played, 0 against itself.
      wins: of them, by the policy.
      draws: of them.
      losses: of them.
      forfeits: of them, by the policy.
      opponent_forfeits: of them, by the opponent.
      itself: whether the opponent is the policy itself (payoff 0, not played).
    """

    digest: str
    payoff: Estimate | None
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    opponent_forfeits: int
    itself: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A policy against an evaluation population.

    Attributes:
      digest: of the policy.
      pop_return: None, like the other three, where `missing` is not empty.
      pop_expl: plain.
      pop_expl_cross_fitted: None also where a half of the deals lacks an opponent.
      agg_score: PopReturn minus plain PopExpl.
      per_opponent: in the population's order.
      missing: members that the policy never met.
    """

    digest: str
    pop_return: Estimate | None
    pop_expl: Estimate | None
    pop_expl_cross_fitted: Estimate | None
    agg_score: Estimate | None
    per_opponent: tuple[AgainstOpponent, ...]
    missing: tuple[str, ...]


def payoff_intervals(table: PayoffTable, stakes: Stakes) -> Estimates:
    """Every payoff of a table of n policies with its 95 % interval: (n, n) arrays.

    Args:
      table: payoffs.
      stakes: as for `meetings`.
    """
    stderr = doubted(table.stderr, table.deals, table.scatter, stakes)
    return around(table.mean, stderr, freedom_of(table.deals)).within(stakes.most)


def evaluate(
    table: PayoffTable, digest: str, population: Sequence[str], stakes: Stakes = UNKNOWN
) -> Evaluation:
    """One policy's metrics and its results against each member.

    Args:
      table: payoffs; it may hold others too.
      digest: the policy.
      population: digests of the members.
      stakes: as for `meetings`.

    Raises:
      ValueError: the population is empty.
    """
    met = meetings(table, [digest], population, stakes)
    metrics = population_metrics(met)
    payoffs = around(met.mean[0], met.stderr[0], met.freedom[0]).within(stakes.most)
    index = table.index()
    against = []
    for column, opponent in enumerate(population):
        payoff = None if np.isnan(met.mean[0, column]) else payoffs[column]
        pair = (index.get(digest), index.get(opponent))
        against.append(_against(table, pair, opponent, payoff, opponent == digest))
    fitted = metrics.pop_expl_cross_fitted[0]
    complete = bool(metrics.complete[0])
    return Evaluation(
        digest=digest,
        pop_return=metrics.pop_return[0] if complete else None,
        pop_expl=metrics.pop_expl[0] if complete else None,
        pop_expl_cross_fitted=None if np.isnan(fitted.value) else fitted,
        agg_score=metrics.agg_score[0] if complete else None,
        per_opponent=tuple(against),
        missing=tuple(one.digest for one in against if one.payoff is None),
    )


def _against(
    table: PayoffTable,
    pair: tuple[int | None, int | None],
    opponent: str,
    payoff: Estimate | None,
    itself: bool,
) -> AgainstOpponent:
    row, column = pair
    if row is None or column is None:
        return AgainstOpponent(opponent, payoff, 0, 0, 0, 0, 0, 0, itself)
    return AgainstOpponent(
        digest=opponent,
        payoff=payoff,
        matches=int(table.count[row, column]),
        wins=int(table.wins[row, column]),
        draws=int(table.draws[row, column]),
        losses=int(table.losses[row, column]),
        forfeits=int(table.forfeits[row, column]),
        opponent_forfeits=int(table.forfeits[column, row]),
        itself=itself,
    )
