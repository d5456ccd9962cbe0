"""How good the meta-strategies of a run are against an evaluation population.

A mixture's mean return against a bot is the mixture of its members' means, so measuring the
members measures every sigma of the run at once, with less noise than drawing members would add.
The evaluation population never takes part in a run; it is played afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.analysis.estimates import Estimate, Floats
from arena.analysis.metrics import Meetings, agg_score, meetings, pop_expl, pop_return
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.standings import payoff_table
from population.matches import Matches
from population.members import drawn
from population.records import Sigma


@dataclass(frozen=True, slots=True)
class Scores:
    """The three metrics of one policy or mixture, in the game's unit per match.

    Attributes:
      pop_return: mean return over the population (higher is better).
      pop_expl: loss to its worst member (lower is better).
      agg_score: the difference.
      against: mean return against each member, in the population's order.
    """

    pop_return: Estimate
    pop_expl: Estimate
    agg_score: Estimate
    against: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known about some policies against a population.

    Attributes:
      population: name of it.
      bots: references of its members, in order.
      digests: (r,) the policies.
      met: their payoffs, (r, m).
      least_matches: the smallest number of matches of a measured policy against a member; 0
        where none was measured.
    """

    population: str
    bots: tuple[str, ...]
    digests: tuple[str, ...]
    met: Meetings
    least_matches: int

    def of(self, weights: Mapping[str, float]) -> Scores | None:
        """Scores of a mixture; None where one of its members was not measured."""
        weights = drawn(weights)
        place = {digest: row for row, digest in enumerate(self.digests)}
        rows = [place.get(digest, -1) for digest in weights]
        if -1 in rows or not self.met.complete[rows].all():
            return None
        mix = np.array([list(weights.values())])
        mean, stderr, freedom = _mixed(
            mix, self.met.mean[rows], self.met.stderr[rows], self.met.freedom[rows]
        )
        return Scores(
            pop_return=pop_return(mean, stderr, freedom)[0],
            pop_expl=pop_expl(mean, stderr, freedom)[0],
            agg_score=agg_score(mean, stderr, freedom)[0],
            against=tuple(mean[0].tolist()),
        )

    def single(self, digest: str) -> Scores | None:
        """Scores of one policy; None where it was not measured."""
        return self.of({digest: 1.0})


def _mixed(mix: Floats, mean: Floats, stderr: Floats, freedom: Floats) -> tuple[Floats, ...]:
    """Mixes (r, m) payoffs by weights (s, r): means, errors and Welch-Satterthwaite freedom."""
    variances = np.square(mix)[:, :, None] * np.square(stderr)[None, :, :]  # (s, r, m)
    total = variances.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = np.where(variances == 0.0, 0.0, np.square(variances) / freedom).sum(axis=1)
        pooled = np.where(doubt == 0.0, np.inf, np.square(total) / doubt)
    return mix @ mean, np.sqrt(total), pooled


def measured(home: Home, game: Game, digests: Sequence[str], population: Population) -> Measured:
    """What the stored matches tell about some policies against a population."""
    chosen = tuple(dict.fromkeys(digests))
    table = payoff_table(home, game, [*chosen, *population.digests])
    met = meetings(table, chosen, population.digests)
    index = table.index()
    columns = [index[digest] for digest in population.digests]
    counts = [
        int(table.count[index[digest], columns].min())
        for digest, complete in zip(chosen, met.complete, strict=True)
        if complete and digest not in population.digests
    ]
    return Measured(population.name, population.members, chosen, met, min(counts, default=0))


def to_measure(sigmas: Sequence[Sigma]) -> tuple[str, ...]:
    """Digests of the members that any of the meta-strategies plays."""
    return tuple(dict.fromkeys(digest for sigma in sigmas for digest in drawn(sigma.weights)))


def measure(
    matches: Matches, digests: Sequence[str], population: Population, count: int
) -> Measured:
    """Plays some policies against a population, so many matches each pair, and tells."""
    pairs = [(one, bot) for one in digests for bot in population.digests if one != bot]
    matches.play(dict.fromkeys(pairs, count))
    return measured(matches.home, matches.game, digests, population)
