"""Numbers with their uncertainty: means of means, and the smallest of several means.

Everything is computed for many rows at once and follows from the data alone (no resampling, so no
seed).  Errors come from few deals as a rule, so quantiles are Student's, with the degrees of
freedom of Welch and Satterthwaite (Satterthwaite 1946, doi:10.2307/3002019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
"""Coverage of every interval."""
_TAIL = (1.0 + LEVEL) / 2.0
_EXACT_FREEDOM = 1e9
"""Degrees of freedom of what is known exactly."""
_MANY = 1_000
"""So many quantiles are worth a look at which of them are the same."""
_ROWS = 64
"""Rows that are compared together."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its standard error and its 95 % interval; NaN where they are not known."""

    value: float
    stderr: float
    low: float
    high: float

    def within(self, most: float) -> Estimate:
        """The same with an interval that does not leave [-most, most]; the value stays."""
        low, high = np.maximum(self.low, -most), np.minimum(self.high, most)
        return Estimate(self.value, self.stderr, float(low), float(high))


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """One estimate for each of r rows: arrays (r,); `freedom` is of the standard errors."""

    value: Floats
    stderr: Floats
    low: Floats
    high: Floats
    freedom: Floats

    def __getitem__(self, row: int) -> Estimate:
        return Estimate(
            float(self.value[row]),
            float(self.stderr[row]),
            float(self.low[row]),
            float(self.high[row]),
        )

    def within(self, most: float) -> Estimates:
        """The same with intervals that do not leave [-most, most]; values stay what they are."""
        low, high = np.maximum(self.low, -most), np.minimum(self.high, most)
        return Estimates(self.value, self.stderr, low, high, self.freedom)

    def __neg__(self) -> Estimates:
        return Estimates(-self.value, self.stderr, -self.high, -self.low, self.freedom)


def student(freedom: Floats, probability: float | Floats) -> Floats:
    """Quantiles of Student's distribution; NaN where there are less than one degree of freedom."""
    from scipy.special import stdtrit  # takes long to load, and many commands estimate nothing

    known = np.where(freedom >= 1.0, np.minimum(freedom, _EXACT_FREEDOM), np.nan)
    if np.ndim(probability) or known.size < _MANY:
        return np.asarray(stdtrit(known, probability), dtype=np.float64)
    # A quantile takes as long as sorting some; pairs that all played the same number of matches
    # share one.
    some, which = np.unique(known, return_inverse=True)
    return np.asarray(stdtrit(some, probability)[which], dtype=np.float64)


def freedom_of(deals: NDArray[np.integer]) -> Floats:
    """Degrees of freedom of a mean over that many deals."""
    return deals.astype(np.float64) - 1.0


def around(value: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """Numbers with their 95 % intervals, for r rows.

    Args:
      value: (r,).
      stderr: (r,) their standard errors; 0 where a number is known exactly.
      freedom: (r,) degrees of freedom of the standard errors, infinite for those that are not
        estimated (any where they are 0).
    """
    freedom = np.where(stderr == 0.0, _EXACT_FREEDOM, freedom)
    reach = stderr * student(freedom, _TAIL)
    return Estimates(value, stderr, value - reach, value + reach, freedom)


def weighted_sum_of(weights: Floats, means: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """Weighted sums of m independent means, for r rows.

    Args:
      weights: (r, m); means of weight 0 may be NaN.
      means: (r, m).
      stderr: (r, m) their standard errors; 0 where a mean is known exactly.
      freedom: (r, m) degrees of freedom of the standard errors (any where they are 0).

    Returns:
      (r,) estimates with Welch-Satterthwaite intervals.
    """
    counts = weights != 0.0
    variance = np.where(counts, (weights * stderr) ** 2, 0.0)
    value = np.where(counts, weights * means, 0.0).sum(axis=1)
    return around(value, np.sqrt(variance.sum(axis=1)), _pooled_freedom(variance, freedom))


def mean_of(means: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """The mean of m independent means, for r rows.

    Args:
      means: (r, m).
      stderr: (r, m) their standard errors; 0 where a mean is known exactly.
      freedom: (r, m) degrees of freedom of the standard errors (any where they are 0).

    Returns:
      (r,) estimates with Welch-Satterthwaite intervals.
    """
    # Not by weights: 1 / m is rounded, and what is known exactly should stay so.
    variance = stderr**2 / means.shape[1] ** 2
    pooled = _pooled_freedom(variance, freedom)
    return around(means.mean(axis=1), np.sqrt(variance.sum(axis=1)), pooled)


def minimum_of(means: Floats, stderr: Floats, freedom: Floats) -> Estimates:
    """The smallest of m true values, for r rows, from noisy means.

    The smallest of the means is too small on average: among nearly equal ones, noise decides
    which it is.  The interval allows for that.  Its lower end is the smallest of the one-sided
    97.5 % lower bounds, which holds whichever value is the smallest.  For the upper end, a
    simultaneous one-sided bound (Sidak 1967, doi:10.1080/01621459.1967.10482935) over the
    contenders, those that such bounds over all m cannot rule out as the smallest.  So coverage is
    95 % when one value stands apart, and more when several tie.

    Args:
      means: (r, m), independent or positively correlated.
      stderr: (r, m); 0 where a value is known exactly.
      freedom: (r, m) degrees of freedom of the standard errors (any where they are 0).

    Returns:
      (r,) estimates: the smallest mean, its standard error, and the interval of the smallest
      true value.
    """
    freedom = np.where(stderr == 0.0, _EXACT_FREEDOM, freedom)
    worst = means.argmin(axis=1)[:, None]
    low = (means - stderr * student(freedom, _TAIL)).min(axis=1)

    reach = stderr * student(freedom, _TAIL ** (1.0 / means.shape[1]))
    contends = means - reach <= (means + reach).min(axis=1, keepdims=True)
    contenders = np.maximum((contends & (stderr > 0.0)).sum(axis=1, keepdims=True), 1)
    bound = means + stderr * student(freedom, _TAIL ** (1.0 / contenders))
    # A NaN bound stays: an unknown error makes the interval unknown.
    high = np.where(contends | np.isnan(bound), bound, np.inf).min(axis=1)
    return Estimates(
        np.take_along_axis(means, worst, axis=1)[:, 0],
        np.take_along_axis(stderr, worst, axis=1)[:, 0],
        low,
        high,
        np.take_along_axis(freedom, worst, axis=1)[:, 0],
    )


def over_programs(parts: Sequence[Estimate], errs: int = 0) -> Estimate:
    """The mean of one figure over several programs of one method, trained or found independently.

    The interval is Student's over the programs: their spread holds how much they differ and the
    noise of their matches.  It is never less than that noise alone, else two that agree by luck
    would be certain.  A figure that errs to one side, as a minimum of noisy means does, errs so in
    each program alike, and no number of them shows it.  On the other side the mean reach of the
    programs' own intervals, which allow for that, is added (root of the sum of squares).

    Args:
      parts: of the programs, at least one; of one, it is the figure itself.
      errs: 1 where every value is too large on average, -1 where it is too small, else 0.
    """
    if len(parts) == 1:
        return parts[0]
    values = np.array([one.value for one in parts])
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(parts)))
    reach = error * float(student(freedom_of(np.array(len(parts))), _TAIL))

    def end(own: Floats, doubted: bool) -> float:
        """How far one side reaches, from (n,) how far it does for each program."""
        if doubted:
            return float(np.hypot(reach, own.mean()))
        return float(np.fmax(reach, np.sqrt(np.square(own).sum()) / len(parts)))

    below = end(values - np.array([one.low for one in parts]), errs > 0)
    above = end(np.array([one.high for one in parts]) - values, errs < 0)
    return Estimate(mean, error, mean - below, mean + above)


def surely_better(estimates: Estimates) -> NDArray[np.bool_]:
    """Which rows are better (larger) than which, given the noise.

    The 95 % interval of each difference is put together from the two intervals, which need not be
    symmetric (MOVER: Zou and Donner 2008, doi:10.1002/sim.3095); rows are taken as independent.

    Returns:
      (r, r) whether the interval of row i minus row j lies above 0; never where an interval is
      not known.
    """
    value = estimates.value
    below, above = value - estimates.low, estimates.high - value
    better = np.empty((len(value), len(value)), np.bool_)
    # Some rows at a time: what passes is eight times as large as what stays.
    for start in range(0, len(value), _ROWS):
        rows = slice(start, start + _ROWS)
        difference = value[rows, None] - value[None, :]
        better[rows] = difference > np.hypot(below[rows, None], above[None, :])
    return better


def _pooled_freedom(variances: Floats, freedom: Floats) -> Floats:
    """Welch-Satterthwaite degrees of freedom of a sum of independent terms, (r, m) to (r,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = np.where(variances == 0.0, 0.0, variances**2 / freedom).sum(axis=1)
        pooled: Floats = np.where(doubt == 0.0, _EXACT_FREEDOM, variances.sum(axis=1) ** 2 / doubt)
    return pooled
