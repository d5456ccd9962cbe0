"""How good the meta-strategies of a run are against an evaluation population.

A mixture's mean return against a bot is the mixture of its members' means, so measuring the
members measures every sigma of the run at once, with less noise than drawing members would add.
Matches are shared among the members by weight, as in a stratified sample: N matches of a mixture
against a bot are N w_i matches of its member i.  The evaluation population never takes part in a
run; it is played afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.analysis.estimates import Estimate, Floats, weighted_sum_of
from arena.analysis.metrics import Meetings, agg_score, meetings, pop_expl, pop_return
from arena.games.protocol import Game
from arena.house.population import Population
from arena.payoffs import PayoffTable
from arena.seam import Tournament
from population.matches import Matches
from population.members import drawn
from population.records import Sigma

LEAST_MATCHES = 4
"""Of a member against a bot, so that an error can be estimated from two deals."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The three metrics of one policy or mixture, in the game's unit per match.

    Attributes:
      pop_return: mean return over the population (higher is better).
      pop_expl: loss to its worst member (lower is better).
      agg_score: the difference.
      against: mean return against each member, in the population's order, with 95 % intervals.
      matches: that each of these means rests on, at least.  For a mixture, so many matches of
        one policy would have as large an error: 1 / sum of w_i^2 / n_i.
    """

    pop_return: Estimate
    pop_expl: Estimate
    agg_score: Estimate
    against: tuple[Estimate, ...]
    matches: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known about some policies against a population.

    Attributes:
      population: name of it.
      bots: references of its members, in order.
      digests: (r,) the policies.
      met: their payoffs, (r, m).
      count: (r, m) matches played.
    """

    population: str
    bots: tuple[str, ...]
    digests: tuple[str, ...]
    met: Meetings
    count: NDArray[np.int64]

    def of(self, weights: Mapping[str, float]) -> Scores | None:
        """Scores of a mixture; None where one of its members was not measured."""
        weights = drawn(weights)
        place = {digest: row for row, digest in enumerate(self.digests)}
        rows = [place.get(digest, -1) for digest in weights]
        if -1 in rows or not self.met.complete[rows].all():
            return None
        mix = np.array(list(weights.values()))
        mixed = weighted_sum_of(
            np.broadcast_to(mix, (self.met.mean.shape[1], len(mix))),
            self.met.mean[rows].T,
            self.met.stderr[rows].T,
            self.met.freedom[rows].T,
        )
        mean, stderr, freedom = mixed.value[None], mixed.stderr[None], mixed.freedom[None]
        return Scores(
            pop_return=pop_return(mean, stderr, freedom)[0],
            pop_expl=pop_expl(mean, stderr, freedom)[0],
            agg_score=agg_score(mean, stderr, freedom)[0],
            against=tuple(mixed[place] for place in range(len(mixed.value))),
            matches=self._matches(rows, mix),
        )

    def _matches(self, rows: Sequence[int], mix: Floats) -> int:
        """See `Scores.matches`; a policy that is in the population has no matches with itself."""
        met = self.count[rows] > 0
        doubt = np.square(mix)[:, None] / np.where(met, self.count[rows], 1)
        total = np.where(met, doubt, 0.0).sum(axis=0)
        return int(1.0 / total.max() + 1e-9) if total.any() else 0

    def single(self, digest: str) -> Scores | None:
        """Scores of one policy; None where it was not measured."""
        return self.of({digest: 1.0})


def measured(
    arena: Tournament, game: Game, digests: Sequence[str], population: Population
) -> Measured:
    """What the stored matches tell about some policies against a population."""
    chosen = tuple(dict.fromkeys(digests))
    return measured_in(arena.payoffs(game, [*chosen, *population.digests]), chosen, population)


def measured_in(table: PayoffTable, digests: Sequence[str], population: Population) -> Measured:
    """The same from a payoff table.

    Raises:
      KeyError: a policy, or a member of the population, is not in the table.
    """
    chosen = tuple(dict.fromkeys(digests))
    met = meetings(table, chosen, population.digests)
    index = table.index()
    rows = [index[digest] for digest in chosen]
    columns = [index[digest] for digest in population.digests]
    count = table.count[np.ix_(rows, columns)].astype(np.int64)
    return Measured(population.name, population.members, chosen, met, count)


def to_measure(sigmas: Iterable[Sigma], count: int) -> dict[str, int]:
    """Matches of each member against each bot, so that every sigma's cells rest on `count`.

    Numbers are even (Leduc is played as duplicates) and at least `LEAST_MATCHES`.
    """
    wanted: dict[str, int] = {}
    for sigma in sigmas:
        for digest, weight in drawn(sigma.weights).items():
            share = max(LEAST_MATCHES, 2 * math.ceil(count * weight / 2.0 - 1e-9))
            wanted[digest] = max(share, wanted.get(digest, 0))
    return wanted


def measure(matches: Matches, wanted: Mapping[str, int], population: Population) -> Measured:
    """Plays policies against a population, each its number of matches a bot, and tells."""
    matches.play(
        {
            (one, bot): count
            for one, count in wanted.items()
            for bot in population.digests
            if one != bot
        }
    )
    return measured(matches.arena, matches.game, list(wanted), population)
