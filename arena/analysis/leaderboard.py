"""The leaderboard: who is how good, how surely, and against whom not.

The official rank is by AggScore, or another metric over the frozen evaluation population, with a
range of ranks that the noise leaves open.  Ratings and the meta-game's columns are secondary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arena.analysis.estimates import (
    Estimate,
    Estimates,
    Floats,
    around,
    freedom_of,
    weighted_sum_of,
)
from arena.analysis.meta_game import exploitability
from arena.analysis.metrics import Meetings, PopulationMetrics, meetings, population_metrics
from arena.analysis.rankings import RankBy
from arena.analysis.ranks import ranks
from arena.analysis.ratings import Rating
from arena.analysis.secondary import secondary
from arena.analysis.stakes import UNKNOWN, Stakes, doubted
from arena.payoffs import PayoffTable, Scatter
from registry.values import PolicyVersion


class EvaluationPopulation(Protocol):
    """A frozen, named set of policies."""

    @property
    def name(self) -> str: ...

    @property
    def digests(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Options:
    """How to make a leaderboard.

    Attributes:
      rank_by: what the rows are ordered by.
      ratings: TrueSkill ratings by digest, from `ratings.true_skill`; None leaves them out.
      secondary: whether to compute Bradley-Terry points, Nash mass and alpha-rank shares.
      stakes: of a match: what intervals may not leave, and which precision makes a rank.
    """

    rank_by: RankBy = RankBy.AGG_SCORE
    ratings: Mapping[str, Rating] | None = None
    secondary: bool = False
    stakes: Stakes = UNKNOWN


@dataclass(frozen=True, slots=True)
class WorstOpponent:
    """The member of the evaluation population that a policy did worst against (itself aside)."""

    digest: str
    ref: str
    mean: float
    stderr: float


@dataclass(frozen=True, slots=True)
class Row:
    """One version's line.  Payoffs are in the game's unit per match.

    Attributes:
      rank: 1, 2, ...; None where the row lacks the number that the board is ordered by (an
        AggScore takes matches against the whole evaluation population, a rating takes any).
      rank_low: the best rank that the noise leaves open; None where `rank` is.  A row is ahead
        for sure where the 95 % interval of the difference excludes 0, pair by pair (see
        `estimates.surely_better`).
      rank_high: the worst such rank.
      ref: author/name@number of the policy.
      digest: its identity.
      mean_return: mean over all opponents that it met, all equally often; None where it met nobody.
      stderr: of `mean_return`; NaN where one of the opponents was met in a single deal.
      mean_return_low: lower end of its 95 % interval, Student's and within what the game allows;
        None where it met nobody, NaN where the error is not known.
      mean_return_high: upper end.
      trueskill: None where not given, as for mixtures.
      pop_return: None, like the other three, where `missing` is not empty.
      pop_expl: plain.
      pop_expl_cross_fitted: None also where half of the deals lacks an opponent.
      agg_score: PopReturn minus plain PopExpl.
      worst: among the members that it met.
      matches: that it played, self-play aside.
      forfeits: of them, by this policy.
      missing: refs of members of the evaluation population that it never met.
      bradley_terry: Elo points.
      nash_mass: weight in the meta-game's Nash mixture ("nash" of `SOLVERS`).
      alpha_rank: share in alpha-rank.  Both are None for those left out because pairs are missing.
      bradley_terry_low: lower end of its 95 % interval (see `arena.analysis.secondary`), and so on
        for the other two; None where the number or its interval is not known.
      provisional: whether what the board is ordered by is known less precisely than
        `Stakes.precision`; such rows stand where the low end of their interval puts them (see
        `arena.analysis.ranks`).
      also: references of the same content under the names of others who handed it in later.
    """

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    ref: str
    digest: str
    mean_return: float | None
    stderr: float | None
    trueskill: Rating | None
    pop_return: Estimate | None
    pop_expl: Estimate | None
    pop_expl_cross_fitted: Estimate | None
    agg_score: Estimate | None
    worst: WorstOpponent | None
    matches: int
    forfeits: int
    missing: tuple[str, ...]
    bradley_terry: float | None = None
    nash_mass: float | None = None
    alpha_rank: float | None = None
    bradley_terry_low: float | None = None
    bradley_terry_high: float | None = None
    nash_mass_low: float | None = None
    nash_mass_high: float | None = None
    alpha_rank_low: float | None = None
    alpha_rank_high: float | None = None
    also: tuple[str, ...] = ()
    provisional: bool = False
    mean_return_low: float | None = None
    mean_return_high: float | None = None

    @property
    def mean_estimate(self) -> Estimate | None:
        """`mean_return` with its interval."""
        if self.mean_return is None or self.mean_return_low is None:
            return None
        high = self.mean_return_high if self.mean_return_high is not None else math.nan
        return Estimate(self.mean_return, self.stderr or 0.0, self.mean_return_low, high)

    def secondary(self, column: str) -> Estimate | None:
        """A secondary number with its interval: "bradley_terry", "nash_mass" or "alpha_rank"."""
        value, low, high = (getattr(self, f"{column}{end}") for end in ("", "_low", "_high"))
        if value is None:
            return None
        unknown = low is None
        return Estimate(value, math.nan, *((math.nan,) * 2 if unknown else (low, high)))


_DEFAULTS = Options()


def leaderboard(
    versions: Sequence[PolicyVersion],
    table: PayoffTable,
    population: EvaluationPopulation,
    options: Options = _DEFAULTS,
) -> tuple[Row, ...]:
    """Ranks some versions.

    Args:
      versions: who is ranked.
      table: payoffs of the versions, the population and whoever else should count as an opponent
        in `mean_return`, `matches` and `forfeits`.
      population: what PopReturn, PopExpl and AggScore are measured on.
      options: order and columns.

    Returns:
      One row for each version: the ranked ones, best first, then those without a rank by name.

    Raises:
      ValueError: the population is empty, or ranking by rating was asked for without ratings.
    """
    if options.rank_by is RankBy.RATING and options.ratings is None:
        raise ValueError("ranking by rating needs ratings: compute them with true_skill first")
    digests = [version.digest for version in versions]
    rated = options.ratings or {}
    met = meetings(table, digests, population.digests, options.stakes)
    metrics = population_metrics(met)
    against_all = _AgainstAll(table, digests, options.stakes)
    scores = _scores(options, digests, metrics, against_all.mean_return)
    provisional = _provisional(scores, options)
    places = _places(scores, versions, provisional)
    extra = _more(table, digests, options.stakes) if options.secondary else {}
    refs = {version.digest: version.ref for version in versions}
    called = [refs.get(member, member[:12]) for member in population.digests]
    unmet, worst = np.isnan(met.mean), _worst(digests, population.digests, called, met)
    rows = []
    for place, (rank, rank_low, rank_high) in places.items():
        digest = digests[place]
        mean = _known(against_all.mean_return[place])
        rows.append(
            Row(
                rank=rank,
                rank_low=rank_low,
                rank_high=rank_high,
                ref=versions[place].ref,
                digest=digest,
                mean_return=mean.value if mean else None,
                stderr=mean.stderr if mean else None,
                trueskill=rated.get(digest),
                pop_return=_known(metrics.pop_return[place]),
                pop_expl=_known(metrics.pop_expl[place]),
                pop_expl_cross_fitted=_known(metrics.pop_expl_cross_fitted[place]),
                agg_score=_known(metrics.agg_score[place]),
                worst=worst[place],
                matches=int(against_all.matches[place]),
                forfeits=int(against_all.forfeits[place]),
                missing=tuple(called[one] for one in np.flatnonzero(unmet[place])),
                also=versions[place].also,
                provisional=bool(provisional[place]),
                mean_return_low=mean.low if mean else None,
                mean_return_high=mean.high if mean else None,
                **extra.get(digest, {}),
            )
        )
    return tuple(rows)


class _AgainstAll:
    """Results of some policies against everybody in the table."""

    def __init__(self, table: PayoffTable, digests: Sequence[str], stakes: Stakes) -> None:
        index = table.index()
        places = np.array([index.get(digest, -1) for digest in digests], dtype=np.intp)
        rows = places[places >= 0]
        self.matches = self._spread(places, table.count.sum(axis=1)[rows], 0)
        self.forfeits = self._spread(places, table.forfeits.sum(axis=1)[rows], 0)
        # Of thousands of policies a few rows at a time, or the passing arrays are as large as
        # the table.
        scatter = table.scatter
        parts = [
            _mean_return(table, rows[start : start + _ROWS], scatter, stakes)
            for start in range(0, max(len(rows), 1), _ROWS)
        ]
        columns = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("value", "stderr", "low", "high", "freedom")
        )
        self.mean_return = Estimates(*(self._spread(places, one, np.nan) for one in columns))

    @staticmethod
    def _spread(places: NDArray[np.intp], found: Floats, absent: float) -> Floats:
        """Values of the policies that are in the table, `absent` for the others."""
        values = np.full(len(places), absent, dtype=np.float64)
        values[places >= 0] = found
        return values


_ROWS = 64
"""Policies whose mean returns are computed together."""


def _mean_return(
    table: PayoffTable, rows: NDArray[np.intp], scatter: Scatter, stakes: Stakes
) -> Estimates:
    """Mean returns of some rows of a table over all that they met; NaN where they met nobody."""
    # Opponents that were never met count neither in the mean nor in its error.
    played = table.count[rows] > 0
    opponents = np.maximum(played.sum(axis=1, keepdims=True), 1)
    stderr = doubted(table.stderr[rows], table.deals[rows], scatter, stakes)
    freedom = freedom_of(table.deals[rows])
    found = weighted_sum_of(played / opponents, table.mean[rows], stderr, freedom)
    found, met = found.within(stakes.most), played.any(axis=1)
    columns = (found.value, found.stderr, found.low, found.high, found.freedom)
    return Estimates(*(np.where(met, column, np.nan) for column in columns))


def _scores(
    options: Options, digests: Sequence[str], metrics: PopulationMetrics, mean_return: Estimates
) -> Estimates:
    """What the rows are ordered by, larger is better."""
    match options.rank_by:
        case RankBy.AGG_SCORE:
            return metrics.agg_score
        case RankBy.POP_RETURN:
            return metrics.pop_return
        case RankBy.POP_EXPL:
            return -metrics.pop_expl
        case RankBy.MEAN_RETURN:
            return mean_return
        case RankBy.RATING:
            known = options.ratings or {}
            rated = [known.get(digest) for digest in digests]
            value = np.array([math.nan if r is None else r.conservative for r in rated])
            sigma = np.array([math.nan if r is None else r.sigma for r in rated])
            # A belief of TrueSkill is a normal distribution.
            return around(value, sigma, np.full(len(rated), np.inf))


def _provisional(scores: Estimates, options: Options) -> NDArray[np.bool_]:
    """Which rows have a score that is known less precisely than the game asks for."""
    scored = ~np.isnan(scores.value)
    if options.stakes == UNKNOWN or options.rank_by is RankBy.RATING:  # which counts the doubt in
        return np.zeros(len(scored), dtype=np.bool_)
    half = (scores.high - scores.low) / 2.0
    return scored & ~(half <= options.stakes.precision)


_Places = tuple[int, int, int] | tuple[None, None, None]
"""Rank, and the best and the worst one that the noise leaves open."""


def _places(
    scores: Estimates, versions: Sequence[PolicyVersion], provisional: NDArray[np.bool_]
) -> dict[int, _Places]:
    """Ranks by place in `versions`, in the order of the board.

    Whoever lacks a score has no rank: a number would say that it is worse than those before it.
    These follow the ranked ones by name.
    """
    found = ranks(scores, provisional, [version.digest for version in versions])
    others = sorted(
        (place for place in range(len(versions)) if place not in found),
        key=lambda place: (versions[place].name, versions[place].number),
    )
    return {**found, **dict.fromkeys(others, (None, None, None))}


def _worst(
    digests: Sequence[str], population: Sequence[str], called: Sequence[str], met: Meetings
) -> list[WorstOpponent | None]:
    """The worst opponent of each of some policies; None where it met no other member."""
    others = np.array(digests, np.str_)[:, None] != np.array(population, np.str_)
    known = np.where(others & ~np.isnan(met.mean), met.mean, np.inf)
    return [
        WorstOpponent(population[place], called[place], float(mean[place]), float(stderr[place]))
        if mean[place] < np.inf
        else None
        for place, mean, stderr in zip(known.argmin(axis=1), known, met.stderr, strict=True)
    ]


def _more(
    table: PayoffTable, digests: Sequence[str], stakes: Stakes
) -> dict[str, dict[str, float | None]]:
    """The secondary fields of rows, by digest."""
    return {
        digest: {
            f"{column}{end}": None if found is None else _number(getattr(found, name))
            for column, found in columns.items()
            for end, name in (("", "value"), ("_low", "low"), ("_high", "high"))
        }
        for digest, columns in secondary(table, digests, stakes).items()
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def nash_exploitability(table: PayoffTable, rows: Sequence[Row]) -> float | None:
    """What the best single policy wins against the mixture of the Nash column, per match.

    Args:
      table: payoffs.
      rows: of the board with that column.

    Returns:
      At least 0; None where no policies met each other.
    """
    index = table.index()
    mass = {index[row.digest]: row.nash_mass for row in rows if row.nash_mass is not None}
    if not mass:
        return None
    places = sorted(mass)
    payoffs = table.mean[np.ix_(places, places)]
    return exploitability(payoffs, np.array([mass[place] for place in places]))


def _known(estimate: Estimate) -> Estimate | None:
    return None if math.isnan(estimate.value) else estimate
