"""TrueSkill ratings from stored matches.

After Herbrich et al. 2006, "TrueSkill: A Bayesian Skill Rating System".  A rating is live and
provisional, and never the official rank: it sees only who won, not by how much, it assumes that
skill is one number, and it depends on the order of the matches.  The order is fixed: by match id,
which is a hash, so no order of play can be chosen to one's advantage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import trueskill
from numpy.typing import NDArray

from arena.analysis.estimates import LEVEL, Estimate
from arena.columns import numbers, whole

MAX_MATCHES = 500_000
"""How many matches are rated at most; a second or two."""
_FARTHEST = 30.0
"""Beyond so many standard deviations the normal distribution is out of reach of a float."""
_NORMAL = NormalDist()
_ROWS = 64
"""Of a matrix, looked at together."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A belief about skill, on TrueSkill's scale (a newcomer has 25 and 25 / 3)."""

    mu: float
    sigma: float

    @property
    def conservative(self) -> float:
        """Skill that the policy very likely has: mu - 3 sigma, what TrueSkill ranks by."""
        return self.mu - 3.0 * self.sigma

    @property
    def belief(self) -> Estimate:
        """Mean and central 95 % of the belief, which is a normal distribution.

        With few matches it is near the newcomer's, so it is wide rather than wrong.  It takes
        TrueSkill's model for granted: that skill is one number, and matches differ by chance alone.
        """
        reach = self.sigma * _NORMAL.inv_cdf((1.0 + LEVEL) / 2.0)
        return Estimate(self.mu, self.sigma, self.mu - reach, self.mu + reach)


def repetitions_to_rate(counts: NDArray[np.integer], max_matches: int = MAX_MATCHES) -> int | None:
    """How many repetitions of each pair to rate, so that at most `max_matches` are rated.

    The same repetitions of every pair are rated, the first ones.  Hand the answer minus one to
    `MatchStore.returns_in_id_order` as `max_repetition`.

    Args:
      counts: (n, n) symmetric, matches of each pair (`PayoffTable.count`).
      max_matches: the bound.

    Returns:
      The largest number that keeps the bound, at least 1; None where everything fits.  Where one
      match a pair is too many (more than 1,000 policies), rate the first of them by id: a sample
      in which each policy has hundreds.
    """
    found = _pairs_by_matches(counts)
    low, high = 1, len(found) - 1
    if _rated(found, high) <= max_matches:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if _rated(found, middle) <= max_matches:
            low = middle
        else:
            high = middle - 1
    return low


def share_to_rate(
    counts: NDArray[np.integer], repetitions: int | None, max_matches: int = MAX_MATCHES
) -> float:
    """Which share of the matches has `max_matches` of them almost surely, where there are more.

    Ids are hashes, so that of N matches a share s has N s with a variance below that: six standard
    deviations more than wanted are asked for.

    Args:
      counts: as for `repetitions_to_rate`.
      repetitions: of each pair; None for all.
      max_matches: the bound.
    """
    found = _pairs_by_matches(counts)
    played = _rated(found, len(found) if repetitions is None else repetitions)
    return min((max_matches + 6.0 * math.sqrt(max_matches)) / max(played, 1), 1.0)


def _pairs_by_matches(counts: NDArray[np.integer]) -> NDArray[np.integer]:
    """How many pairs played 0, 1, 2, ... matches, each pair once; but 0 is of no use."""
    found = np.zeros(int(counts.max(initial=0)) + 1, np.int64)
    for start in range(0, len(counts), _ROWS):
        found += np.bincount(counts[start : start + _ROWS].ravel(), minlength=len(found))
    return found // 2


def _rated(pairs: NDArray[np.integer], repetitions: int) -> int:
    """Matches that so many repetitions of each pair are."""
    return int(pairs @ np.minimum(np.arange(len(pairs)), repetitions))


def true_skill(returns: pa.Table, *, draw_margin: float = 0.0) -> dict[str, Rating]:
    """Ratings of everybody who played.

    Args:
      returns: `low`, `high` (digests) and `return_low`, in the order in which the matches count:
        what `MatchStore.returns_in_id_order` gives.  Self-play is left out.
      draw_margin: a return of at most this size, either way, counts as a draw.

    Returns:
      Rating of each digest.
    """
    chunks = [
        chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        for name in ("low", "high")
        for chunk in returns.column(name).chunks
    ]
    if not chunks:
        return {}
    encoded = whole(pa.chunked_array(chunks).unify_dictionaries())
    digests = encoded.dictionary.to_pylist()
    places = numbers(encoded.indices)
    first, second = np.split(places, 2)
    margins = numbers(returns.column("return_low"))
    outcomes = np.where(np.abs(margins) <= draw_margin, 0, np.sign(margins))
    met = first != second
    columns = (column[met].astype(np.int32) for column in (first, second, outcomes))
    mu, sigma = _folded(*(column.tobytes() for column in columns), len(digests))
    # A dictionary may name some who are in no row.
    return {digests[place]: Rating(mu[place], sigma[place]) for place in np.unique(places).tolist()}


def environment(draw_share: float) -> trueskill.TrueSkill:
    """TrueSkill's usual constants, but for the game's own share of draws and no drift of skill.

    TrueSkill lets skill drift between matches (tau), because people learn.  A version never
    changes, and without drift the order of matches matters far less: over 20 shuffles of 16
    matches a pair, the rank of a competition bot varied by 0.5 on average and by 3 at most, against
    4.7 and 8 with the usual tau.

    The package brings its own approximation of the normal distribution, which fails far out in
    the tails; the standard library's is exact and faster.
    """
    return trueskill.TrueSkill(
        tau=0.0,
        draw_probability=min(max(draw_share, 0.001), 0.9),
        backend=(_cdf, _pdf, _NORMAL.inv_cdf),
    )


def _cdf(x: float) -> float:
    # Unlike NormalDist.cdf, precise far below 0.
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _pdf(x: float) -> float:
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


@lru_cache(maxsize=4)
def _folded(
    first: bytes, second: bytes, outcomes: bytes, n: int
) -> tuple[list[float], list[float]]:
    """`_fold` of columns of 32-bit numbers, kept for those who ask again.

    The key is all that the answer follows from, at most 6 MB.
    """
    one, other, outcome = (np.frombuffer(part, np.int32) for part in (first, second, outcomes))
    return _fold(one, other, outcome, n)


def _fold(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    outcomes: NDArray[np.integer],
    n: int,
) -> tuple[list[float], list[float]]:
    """Folds matches into ratings, one after the other.

    It is the closed form of the package's `rate` (its factor graph for two players has no
    loop), 60 times faster; a test holds the two together.

    Args:
      first: (k,) number of one player.
      second: (k,) of the other.
      outcomes: (k,) 1 where the first won, -1 where it lost, 0 for a draw.
      n: how many players there are.

    Returns:
      Means and standard deviations, (n,) each.
    """
    draws = float((outcomes == 0).mean()) if outcomes.size else 0.0
    env = environment(draws)
    mu, variance = [env.mu] * n, [env.sigma**2] * n
    noise = 2.0 * env.beta**2
    margin = trueskill.calc_draw_margin(env.draw_probability, 2, env)
    matches = zip(first.tolist(), second.tolist(), outcomes.tolist(), strict=True)
    exp, erfc, sqrt = math.exp, math.erfc, math.sqrt
    root_of_2, root_of_2_pi = sqrt(2.0), sqrt(2.0 * math.pi)
    for one, other, outcome in matches:
        winner, loser = (one, other) if outcome >= 0 else (other, one)
        variance_winner, variance_loser = variance[winner], variance[loser]
        total = noise + variance_winner + variance_loser
        spread = sqrt(total)
        lead = (mu[winner] - mu[loser]) / spread
        if not -_FARTHEST <= lead <= _FARTHEST:
            lead = math.copysign(_FARTHEST, lead)
        if outcome == 0:
            v, w = env.v_draw(lead, margin / spread), env.w_draw(lead, margin / spread)
        else:
            beyond = lead - margin / spread
            # `_pdf` over `_cdf`: to call them half a million times costs as much as all the rest.
            v = (exp(-0.5 * beyond * beyond) / root_of_2_pi) / (0.5 * erfc(-beyond / root_of_2))
            w = v * (v + beyond)
        mu[winner] += variance_winner / spread * v
        mu[loser] -= variance_loser / spread * v
        variance[winner] = variance_winner * (1.0 - variance_winner / total * w)
        variance[loser] = variance_loser * (1.0 - variance_loser / total * w)
    return mu, [math.sqrt(value) for value in variance]
