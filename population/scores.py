"""How good the meta-strategies of a run are against an evaluation population.

A mixture is scored through its members (`arena.mixing`), so measuring the members measures every
sigma of the run at once.  The evaluation population never takes part in a
run; it is played afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.analysis.estimates import Estimate, around, over_programs
from arena.analysis.metrics import Meetings, PopulationMetrics, meetings, population_metrics
from arena.analysis.stakes import UNKNOWN, Stakes, stakes_of
from arena.games.protocol import Game
from arena.house.population import Population
from arena.mixing import share_of, with_mixtures
from arena.payoffs import PayoffTable
from arena.seam import AnyArena
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
      against: mean return against each member, in the population's order, with 95 % intervals.
      matches: that each of these means rests on, at least.  For a mixture, so many matches of
        one policy would have as large an error: 1 / sum of w_i^2 / n_i.
    """

    pop_return: Estimate
    pop_expl: Estimate
    agg_score: Estimate
    against: tuple[Estimate, ...]
    matches: int


ERRS = {"pop_return": 0, "pop_expl": 1, "agg_score": -1}
"""Figures of `Scores`, and to which side they err on average: the worst of noisy means looks worse.

See `arena.analysis.estimates.over_programs`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known about some policies against a population.

    Attributes:
      population: name of it.
      bots: references of its members, in order.
      against: their digests.
      digests: (r,) the policies.
      table: payoffs of the policies and the population.
      stakes: of a match.
    """

    population: str
    bots: tuple[str, ...]
    against: tuple[str, ...]
    digests: tuple[str, ...]
    table: PayoffTable
    stakes: Stakes = UNKNOWN

    def of(self, weights: Mapping[str, float]) -> Scores | None:
        """Scores of a mixture; None where one of its members was not measured.

        They are what the leaderboard says of it, if it is registered.
        """
        return self.all_of([weights])[0]

    def all_of(self, mixtures: Sequence[Mapping[str, float]]) -> list[Scores | None]:
        """Scores of several mixtures."""
        trimmed = {f"{_MIXED} {place}": drawn(one) for place, one in enumerate(mixtures)}
        known = {
            name: one for name, one in trimmed.items() if set(one) <= set(self.digests) and one
        }
        table = with_mixtures(self.table, known, self.stakes)
        met = meetings(table, tuple(known), self.against, self.stakes)
        metrics = population_metrics(met)
        found = {
            name: self._scores(table, name, met, metrics, row)
            for row, name in enumerate(known)
            if metrics.complete[row]
        }
        return [found.get(name) for name in trimmed]

    def _scores(
        self, table: PayoffTable, name: str, met: Meetings, metrics: PopulationMetrics, row: int
    ) -> Scores:
        payoffs = around(met.mean[row], met.stderr[row], met.freedom[row])
        payoffs = payoffs.within(self.stakes.most)
        index = table.index()
        counts = table.count[index[name], [index[one] for one in self.against]]
        return Scores(
            pop_return=metrics.pop_return[row],
            pop_expl=metrics.pop_expl[row],
            agg_score=metrics.agg_score[row],
            against=tuple(payoffs[place] for place in range(len(self.against))),
            matches=int(counts[counts > 0].min()) if counts.any() else 0,
        )

    def single(self, digest: str) -> Scores | None:
        """Scores of one policy; None where it was not measured."""
        return self.of({digest: 1.0})


_MIXED = "mixture"
"""What mixtures are called in a table of digests, of which this is none."""


def measured(
    arena: AnyArena, game: Game, digests: Sequence[str], population: Population
) -> Measured:
    """What the stored matches tell about some policies against a population."""
    chosen = tuple(dict.fromkeys(digests))
    table = arena.payoffs(game, [*chosen, *population.digests])
    return measured_in(table, chosen, population, stakes_of(game))


def measured_in(
    table: PayoffTable,
    digests: Sequence[str],
    population: Population,
    stakes: Stakes = UNKNOWN,
) -> Measured:
    """The same from a payoff table.

    Raises:
      ValueError: a policy, or a member of the population, is not in the table.
    """
    chosen = tuple(dict.fromkeys(digests))
    part = table.restrict(tuple(dict.fromkeys([*chosen, *population.digests])))
    return Measured(population.name, population.members, population.digests, chosen, part, stakes)


def to_measure(sigmas: Iterable[Sigma], count: int) -> dict[str, int]:
    """Matches of each member against each bot, so that every sigma's cells rest on `count`.

    Numbers are those of `arena.mixing.share_of`.
    """
    wanted: dict[str, int] = {}
    for sigma in sigmas:
        for digest, weight in drawn(sigma.weights).items():
            wanted[digest] = max(share_of(count, weight), wanted.get(digest, 0))
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


@dataclass(frozen=True, slots=True)
class Ours:
    """Figures of one method, measured here.

    Attributes:
      pop_return: with its 95 % interval: over seeds where there are two or more
        (`arena.analysis.estimates.over_programs`), else over the matches.
      pop_expl: likewise.
      agg_score: likewise.
      against: mean returns against each member of the population, in its order, likewise.
      seeds: how many programs or runs they are of.
      matches: that each was measured by, a member of the population, at least.
    """

    pop_return: Estimate
    pop_expl: Estimate
    agg_score: Estimate
    against: tuple[Estimate, ...]
    seeds: int
    matches: int


def over_seeds(scores: Sequence[Scores], game: Game) -> Ours:
    """The figures of one method from those of its programs.

    Programs with the very same figures are one that was measured once, whatever runs came to it, so
    it counts once: its luck would be taken for several programs' else.

    Raises:
      ValueError: there are none.
    """
    if not scores:
        raise ValueError("no figures without a measured program")

    distinct = tuple(dict.fromkeys(scores))

    def pooled(name: str) -> Estimate:
        return over_programs([getattr(one, name) for one in distinct], ERRS[name])

    most, against = game.most, zip(*(one.against for one in distinct), strict=True)
    return Ours(
        pooled("pop_return").within(most),
        pooled("pop_expl").within(most),
        pooled("agg_score").within(2.0 * most),
        tuple(over_programs(one).within(most) for one in against),
        seeds=len(scores),
        matches=min(one.matches for one in scores),
    )
