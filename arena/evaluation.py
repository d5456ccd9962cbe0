"""One policy against an evaluation population: how good it is, and against whom not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from arena.analysis.estimates import Estimate
from arena.analysis.metrics import AgainstOpponent, Evaluation, evaluate
from arena.figures import colours
from arena.figures.intervals import Line, intervals
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.printed import WIDTH, Cell, Printed, Sheet, estimate_columns, estimated
from arena.standings import payoff_table
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
    """

    version: PolicyVersion
    population: str
    scores: Evaluation
    refs: Mapping[str, str]
    report: PlayReport

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
        lines = [
            Line(self.refs[one.digest], payoff, colours.GAIN if payoff.value > 0 else colours.LOSS)
            for one, payoff in self._met()
        ]
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
    home: Home, game: Game, version: PolicyVersion, population: Population, report: PlayReport
) -> Evaluated:
    """Computes the scores from everything that is stored.

    Args:
      home: where it is stored.
      game: what was played.
      version: the policy.
      population: the opponents.
      report: what was played just now.
    """
    table = payoff_table(home, game, [version.digest, *population.digests])
    members = home.registry.by_digests(population.digests)
    refs = {digest: member.ref for digest, member in members.items()}
    scores = evaluate(table, version.digest, population.digests)
    return Evaluated(version, population.name, scores, refs, report)
