"""Code-Space Response Oracles (the paper's Algorithm 1) as a client of the registry and arena."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from arena.analysis.meta_strategy import SOLVERS
from arena.payoffs import PayoffTable
from oracle.values import Attempt, Oracle, OracleExhausted, Score, Task
from population.config import RunConfig
from population.evaluator import Evaluator, LineageOf
from population.matches import Matches
from population.members import (
    Member,
    accept,
    initial_member,
    name_of,
    register_mixture,
    task_of,
)
from population.records import Effort, Iteration, Sigma
from population.runs import Runs
from registry.values import PolicyVersion


class Watcher(Protocol):
    """Told how a run goes on."""

    def begins(self, k: int, iterations: int) -> None:
        """Iteration k of K begins; k = K + 1 is the last payoff table."""
        ...

    def ends(self, iteration: Iteration) -> None:
        """An iteration was stored."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What a run returns: P, sigma, and sigma as a version of the registry."""

    members: tuple[Member, ...]
    sigma: Sigma
    mixture: PolicyVersion


@dataclass(frozen=True, slots=True)
class Csro:
    """Everything that a run works with.

    Attributes:
      name: of the run.
      config: G, K, the seed, ...; M is the oracle's.
      oracle: writes best responses.
      lineage_of: what is registered about a program, from its source.
      matches: plays.
      runs: where finished iterations are kept.
      watcher: told how it goes on.
    """

    name: str
    config: RunConfig
    oracle: Oracle
    lineage_of: LineageOf
    matches: Matches
    runs: Runs
    watcher: Watcher

    def run(self) -> Result:
        """Runs to the end, from wherever it was left.

        Lines of Algorithm 1 stand beside the code.  The oracle holds the while loop of its
        variant: it gets `Evaluator` for "evaluate policy", and M is its own.  Iterations that
        are stored are read instead of repeated; one that was interrupted is worked through
        again, and finds its candidates, matches and model replies where they were stored.

        Raises:
          BudgetSpent: of the model; the run can be resumed with a larger budget.
          ArenaError, RegistryError, SandboxError, StoreError: it can be resumed.
        """
        config, arena = self.config, self.matches.arena
        stored = {iteration.k: iteration for iteration in self.runs.iterations(self.name)}
        members = [initial_member(arena, self.matches.game, config)]  # P <- {pi_initial}
        self.runs.begin(self.name, members[0].digest)
        for k in range(1, config.iterations + 1):  # for k <- 1 to K
            if k not in stored:
                self.watcher.begins(k, config.iterations)
                started, spent = time.perf_counter(), _spent(self.matches)
                table = self.payoff_matrix(members)  # U <- compute payoff matrix (P)
                sigma = self.meta_equilibrium(table)  # sigma <- compute meta-equilibrium (U)
                task = task_of(self.matches.game, config, members, sigma, k)
                answer = self.respond(task, k, members)  # pi', u, and the loop up to M
                effort = _effort(started, answer.thinking, spent, _spent(self.matches))
                stored[k] = _iteration(k, sigma, answer, effort)
                self.runs.add(self.name, stored[k])
                self.watcher.ends(stored[k])
            digest = stored[k].accepted
            if digest and digest not in {member.digest for member in members}:
                members.append(accept(arena, self.name, digest, k))  # P <- P + {pi'}
        self.watcher.begins(config.iterations + 1, config.iterations)
        sigma = self.meta_equilibrium(self.payoff_matrix(members))
        mixture = register_mixture(arena, self.name, config, sigma)
        self.runs.finish(self.name, sigma, mixture.digest)
        return Result(tuple(members), sigma, mixture)  # return P, sigma

    def payoff_matrix(self, members: Sequence[Member]) -> PayoffTable:
        """U: plays the missing matches and returns the payoffs of all members."""
        digests = [member.digest for member in members]
        wanted = dict.fromkeys(combinations(digests, 2), self.config.matches.payoff)
        return self.matches.payoffs(digests, wanted)

    def meta_equilibrium(self, table: PayoffTable) -> Sigma:
        """Sigma: a mixture over the members by the run's meta-solver."""
        found = SOLVERS[self.config.solver](table.mean, table.stderr)
        weights = dict(zip(table.digests, found.weights.tolist(), strict=True))
        return Sigma(weights, found.exploitability, found.solver, dict(found.settings))

    def respond(self, task: Task, k: int, members: Sequence[Member]) -> _Answer:
        """Asks the oracle."""
        evaluate = Evaluator(
            self.matches,
            task,
            name_of(self.name, k),
            self.config.matches.evaluation,
            self.lineage_of,
            {member.digest: member.label for member in members},
        )
        started, played = time.perf_counter(), self.matches.spent.seconds
        try:
            response = self.oracle.respond(task, evaluate)
        except OracleExhausted as empty_handed:
            best, digest, attempts = None, "", empty_handed.attempts
        else:
            best, attempts = response.best.score, response.attempts
            digest = evaluate.digest(response.best.source)
        playing = self.matches.spent.seconds - played
        return _Answer(digest, best, attempts, time.perf_counter() - started - playing)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an oracle found ("" and None for nothing), all that it tried, its own seconds."""

    digest: str
    score: Score | None
    attempts: tuple[Attempt, ...]
    thinking: float


def _spent(matches: Matches) -> tuple[float, int, int]:
    return (matches.spent.seconds, matches.spent.matches, matches.spent.trials)


def _effort(
    started: float, thinking: float, before: tuple[float, int, int], after: tuple[float, int, int]
) -> Effort:
    return Effort(
        seconds=round(time.perf_counter() - started, 3),
        match_seconds=round(after[0] - before[0], 3),
        oracle_seconds=round(thinking, 3),
        matches=after[1] - before[1],
        trials=after[2] - before[2],
    )


def _iteration(k: int, sigma: Sigma, answer: _Answer, effort: Effort) -> Iteration:
    score = answer.score
    u, stderr = (score.u, score.stderr) if score else (None, None)
    return Iteration(k, sigma, answer.digest, u, stderr, answer.attempts, effort)
