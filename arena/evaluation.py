"""One policy against an evaluation population: how good it is, and against whom not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from arena.analysis.estimates import Estimate
from arena.analysis.metrics import AgainstOpponent, Evaluation, evaluate
from arena.analysis.stakes import stakes_of
from arena.control_variate import variance_saved, without_luck
from arena.figures.intervals import Line, intervals
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.printed import WIDTH, Cell, Printed, Sheet, estimate_columns, estimated
from arena.standings import payoff_table, place_of
from arena.tally import PlayReport
from registry.values import PolicyVersion


@dataclass(frozen=True, slots=True)
class Evaluated(Printed):
    """A policy's scores.

    Attributes:
      version: the policy.
      population: name of the evaluation population.
      scores: the metrics with intervals, and the payoff against each member.
      refs: digest to reference, of the members.
      report: what was played for it.
      rank: on the leaderboard by AggScore; None for what has none.
      rank_low: the best rank that the noise leaves open.
      rank_high: the worst.
      ranked: how many have a rank.
      provisional: whether the score is not known precisely enough for a rank among the measured.
      saved: where luck was taken off: opponent's digest to the variance of the plain mean over
        that of the payoff in `scores`, so many times the matches would have been needed; infinite
        where nothing is left to luck.  None where it was not.
    """

    version: PolicyVersion
    population: str
    scores: Evaluation
    refs: Mapping[str, str]
    report: PlayReport
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    ranked: int = 0
    provisional: bool = False
    saved: Mapping[str, float] | None = None

    def place(self) -> str:
        """The rank in words; "" without one."""
        if self.rank is None:
            return ""
        tied = self.rank_low != self.rank_high
        could_be = f", could be {self.rank_low} to {self.rank_high}" if tied else ""
        provisional = ", provisional" if self.provisional else ""
        return f"rank {self.rank} of {self.ranked} by AggScore{could_be}{provisional}"

    def sheet(self, width: int = WIDTH) -> Sheet:
        """The scores, and below them the members that were met, the worst for the policy first."""
        totals = (
            ("PopReturn", self.scores.pop_return),
            ("PopExpl", self.scores.pop_expl),
            ("  cross-fitted", self.scores.pop_expl_cross_fitted),
            ("AggScore", self.scores.agg_score),
        )
        rows: list[tuple[Cell, ...]] = [
            (title, estimated(value), "", "", "", "") for title, value in totals
        ]
        for one, payoff in self._met():
            counts = (str(count) for count in (one.wins, one.draws, one.losses))
            rows.append(
                (
                    f"against {self.refs[one.digest]}",
                    estimated(payoff),
                    *counts,
                    str(one.forfeits or ""),
                )
            )
        return Sheet(
            f"{self.version.ref} against {self.population}, a match",
            {
                "": "left",
                "mean [95 %]": "right",
                "won": "right",
                "drawn": "right",
                "lost": "right",
                "forfeits": "right",
            },
            tuple(rows),
            self.place(),
        )

    def _met(self) -> list[tuple[AgainstOpponent, Estimate]]:
        """The members that it met, the worst for the policy first, and what it got from them."""
        met = [
            (one, one.payoff)
            for one in self.scores.per_opponent
            if one.payoff is not None and not one.itself
        ]
        return sorted(met, key=lambda pair: pair[1].value)

    def picture(self) -> str:
        """Mean return against each member with its 95 % interval, the worst first."""
        lines = [Line.of_return(self.refs[one.digest], payoff) for one, payoff in self._met()]
        return intervals(lines, "mean return a match (95 %)") if lines else ""

    def to_arrow(self) -> pa.Table:
        """One row for each member: payoff with its 95 % interval, and counts of matches."""
        return pa.Table.from_pylist(
            [
                {
                    "opponent": self.refs[one.digest],
                    "digest": one.digest,
                    **estimate_columns("payoff", one.payoff),
                    "matches": one.matches,
                    "wins": one.wins,
                    "draws": one.draws,
                    "losses": one.losses,
                    "forfeits": one.forfeits,
                    "opponent_forfeits": one.opponent_forfeits,
                    "itself": one.itself,
                }
                for one in self.scores.per_opponent
            ]
        )


def evaluated(
    home: Home,
    game: Game,
    version: PolicyVersion,
    population: Population,
    report: PlayReport,
    *,
    control_variate: bool = False,
) -> Evaluated:
    """Computes the scores from everything that is stored.

    Args:
      home: where it is stored.
      game: what was played.
      version: the policy.
      population: the opponents.
      report: what was played just now.
      control_variate: whether to take the luck off (see `arena.control_variate`).  The rank is
        that of the leaderboard, which counts plain returns.

    Raises:
      UsageFault: there is no control variate for this game.
    """
    everybody = list(dict.fromkeys([version.digest, *population.digests]))
    table, saved = payoff_table(home, game, everybody), None
    if control_variate:
        pairs = [(version.digest, other) for other in everybody[1:]]
        plain, table = table, without_luck(home, game, everybody, pairs)
        saved = {
            digest: factor
            for digest, factor in zip(everybody, variance_saved(plain, table)[0], strict=True)
            if not np.isnan(factor)
        }
    members = home.registry.by_digests(population.digests)
    refs = {digest: member.ref for digest, member in members.items()}
    scores = evaluate(table, version.digest, population.digests, stakes_of(game))
    found = Evaluated(version, population.name, scores, refs, report, saved=saved)
    own = place_of(home, game, population, version.digest)
    if own is None:
        return found
    row, ranked = own
    return replace(
        found,
        rank=row.rank,
        rank_low=row.rank_low,
        rank_high=row.rank_high,
        ranked=ranked,
        provisional=row.provisional,
    )
