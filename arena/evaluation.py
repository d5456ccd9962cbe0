"""One policy against an evaluation population: how good it is, and against whom not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.analysis.metrics import Evaluation, evaluate
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.standings import payoff_table
from arena.tally import PlayReport
from registry.values import PolicyVersion


@dataclass(frozen=True, slots=True)
class Evaluated:
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
