"""Islands of programs: what an evolutionary search remembers, and how it picks from it.

As in FunSearch (Romera-Paredes et al. 2024, doi:10.1038/s41586-023-06924-6): islands evolve apart;
on an island, programs that return about the same against every opponent form a cluster; a parent's
cluster is drawn in favour of high returns, and in it a good and short program is preferred.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oracle.outcome import Outcome, best_of, played_out, standing
from oracle.values import Failure, Score

Signature = tuple[int, ...]


def signature(score: Score, grain: float) -> Signature:
    """Returns against each opponent, coarsely: programs that share it play about alike.

    Args:
      score: against the task's opponents.
      grain: width of a class, in the game's unit.
    """
    return tuple(round(one.mean / grain) for one in score.against)


def behaviour(score: Score) -> tuple[tuple[float, int], ...]:
    """Exact returns; two programs that share them over the same matches do not differ."""
    return tuple((one.mean, one.matches) for one in score.against)


@dataclass(frozen=True, slots=True)
class LastFailure:
    """What was wrong with the last program that was made from a parent."""

    parent: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Island:
    """Programs that evolve by themselves.

    Attributes:
      number: 0, 1, ...
      programs: scored programs, in the order in which they came.
      last_failures: at most one for each parent, until something sound comes from it.
      failed_edits: edits in a row that gave no sound program.
      stillborn: the last failure where no program is sound yet.
    """

    number: int
    programs: tuple[Outcome, ...] = ()
    last_failures: tuple[LastFailure, ...] = ()
    failed_edits: int = 0
    stillborn: Outcome | None = None

    @property
    def best(self) -> Outcome | None:
        """The program with the highest return, of those that were scored in full."""
        return best_of(played_out(self.programs))

    def last_failure(self, parent: Outcome) -> Failure | None:
        """What was wrong with the last attempt to improve on a program."""
        found = [one.failure for one in self.last_failures if one.parent == parent.digest]
        return found[-1] if found else None

    def parent(self, rng: random.Random, temperature: float, grain: float) -> Outcome:
        """Draws a program to improve on, of those that were scored in full.

        Args:
          rng: for this draw.
          temperature: 0 always takes the best cluster; the higher, the more even the chances; in
            units of the spread of the clusters' returns.
          grain: of the clusters' signatures, in the game's unit.

        Raises:
          ValueError: there is no program.
        """
        if self.best is None:
            raise ValueError(f"island {self.number} has no program to draw")
        clusters = list(self.clusters(grain).values())
        values = [max(one.u for one in cluster) for cluster in clusters]
        cluster = rng.choices(clusters, _softmax(values, temperature))[0]
        better = _softmax([one.u for one in cluster], temperature)
        shorter = _softmax([-float(len(one.source)) for one in cluster], 1.0)
        return rng.choices(cluster, [a * b for a, b in zip(better, shorter, strict=True)])[0]

    def specialist(self, rng: random.Random) -> Outcome:
        """Draws an opponent, and the program that returns most against it; the first of equals.

        These programs are on the Pareto front over the opponents: each is the best somewhere.

        Raises:
          ValueError: there is no program.
        """
        scored = [(one, one.score) for one in played_out(self.programs) if one.score is not None]
        if not scored:
            raise ValueError(f"island {self.number} has no program to draw")
        place = rng.randrange(len(scored[0][1].against))
        return max(scored, key=lambda pair: pair[1].against[place].mean)[0]

    def clusters(self, grain: float) -> dict[Signature, list[Outcome]]:
        """Programs that were scored in full, by signature."""
        found: dict[Signature, list[Outcome]] = {}
        for one in played_out(self.programs):
            if one.score is not None:
                found.setdefault(signature(one.score, grain), []).append(one)
        return found

    def inspirations(self, parent: Outcome) -> tuple[tuple[str, Score], ...]:
        """The other programs, best first, those that races gave up last."""
        ranked = sorted(self.programs, key=standing)
        return tuple(
            (one.source, one.score)
            for one in ranked
            if one.score is not None and one.digest != parent.digest
        )

    def visited_by(self, visitor: Outcome | None) -> Island:
        """The island with another one's program, if it is not there already."""
        if visitor is None or visitor.digest in {one.digest for one in self.programs}:
            return self
        return replace(self, programs=(*self.programs, visitor))

    def with_outcome(self, outcome: Outcome, parent: str, edited: bool) -> Island:
        """The island after a draft: the program joins, or its failure is kept.

        Args:
          outcome: what came of it.
          parent: digest of the program that it was made from, "" for none.
          edited: whether edits were asked for.
        """
        others = tuple(one for one in self.last_failures if one.parent != parent)
        if outcome.failure is None:
            return replace(
                self, programs=(*self.programs, outcome), last_failures=others, failed_edits=0
            )
        last_failures = (*others, LastFailure(parent, outcome.failure)) if parent else others
        return replace(
            self,
            last_failures=last_failures,
            failed_edits=self.failed_edits + 1 if edited else 0,
            stillborn=outcome,
        )


def _softmax(values: Sequence[float], temperature: float) -> list[float]:
    """Weights that favour high values; the temperature is in standard deviations of them."""
    highest = max(values)
    spread = statistics.pstdev(values)
    if spread == 0.0:
        return [1.0] * len(values)
    scale = temperature * spread
    if scale == 0.0:
        return [float(value == highest) for value in values]
    return [math.exp((value - highest) / scale) for value in values]
