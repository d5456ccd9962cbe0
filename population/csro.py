"""Code-Space Response Oracles (the paper's Algorithm 1) as a client of the registry and arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from arena.analysis.meta_strategy import SOLVERS
from arena.analysis.nash import nash
from arena.payoffs import PayoffTable
from oracle.asking import AnyOracle, ask
from oracle.values import Task
from population.config import CUSTOM, RunConfig
from population.confirmation import confirmed
from population.evaluator import Evaluator, LineageOf
from population.hidden import with_hidden
from population.logbook import Found, Logbook
from population.matches import Matches
from population.members import (
    Member,
    accept,
    initial_member,
    name_of,
    register_mixture,
    task_of,
)
from population.records import Iteration, Sigma
from population.yardsticks import beyond_members
from registry.values import PolicyVersion


@dataclass(frozen=True, slots=True)
class Result:
    """What a run returns: P, sigma, and sigma as a version of the registry."""

    members: tuple[Member, ...]
    sigma: Sigma
    mixture: PolicyVersion


@dataclass(frozen=True, slots=True)
class Csro:
    """Everything that a run works with.  Lines of Algorithm 1 stand beside the code.

    Attributes:
      name: of the run.
      config: G, K, the seed, ...; M is the oracle's.
      oracle: writes best responses.
      lineage_of: what is registered about a program, from its source.
      matches: plays.
      log: what was done before, how long it takes, and who watches.
    """

    name: str
    config: RunConfig
    oracle: AnyOracle
    lineage_of: LineageOf
    matches: Matches
    log: Logbook

    def run(self) -> Result:
        """Runs to the end, from wherever it was left.

        Raises:
          BudgetSpent: of the model; the run can be resumed with a larger budget.
          ArenaError, RegistryError, SandboxError, StoreError: it can be resumed.
        """
        arena, members = self.matches.arena, [self.initial()]  # P <- {pi_initial}
        for k in range(1, self.config.iterations + 1):  # for k <- 1 to K
            found = self.log.once(k, self.step, members)
            members += self.joining(found, members)  # P <- P + {pi'}
        self.log.last_table()
        sigma = self.meta_equilibrium(members, self.payoff_matrix(members))
        mixture = register_mixture(arena, self.name, self.config, sigma)
        self.log.finish(sigma, mixture.digest)
        return Result(tuple(members), sigma, mixture)  # return P, sigma

    def step(self, k: int, members: Sequence[Member]) -> Found:
        """The body of the loop: what beats the meta-equilibrium of P?

        The oracle holds the while loop of its variant, with M: it writes programs, and has each
        evaluated by the function that it is given.
        """
        table = self.payoff_matrix(members)  # U <- compute_payoff_matrix(P)
        sigma = self.meta_equilibrium(members, table)  # sigma <- compute_meta_equilibrium(U)
        task = task_of(self.matches.game, self.config, members, sigma, k)
        task = with_hidden(task, self.matches, self.config, self.name, self.log.before(k))
        evaluate = self.evaluate_policy(task, k, members)
        with self.log.thinking():
            answer = ask(self.oracle, self._told(task), evaluate)  # pi', and the loop up to M
        digest = evaluate.digest(answer.source)
        if self.config.afresh:  # u <- evaluate_policy(pi', sigma, P), by matches that chose nobody
            digest, answer = confirmed(answer, digest, evaluate.afresh)
        return Found(sigma, digest, answer.score, answer.attempts, answer.end)

    def _told(self, task: Task) -> Task:
        """The task as its oracle gets it: one of somebody's own, without the hidden programs."""
        if self.config.oracle.model != CUSTOM:
            return task
        return replace(task, hidden=tuple(replace(one, source="") for one in task.hidden))

    def initial(self) -> Member:
        """pi_initial, registered; in a run that goes on, the one that it began with."""
        arena, game = self.matches.arena, self.matches.game
        member = initial_member(arena, game, self.config, self.log.began)
        self.log.begin(member)
        return member

    def payoff_matrix(self, members: Sequence[Member]) -> PayoffTable:
        """U: plays the missing matches and returns the payoffs of all members."""
        digests = [member.digest for member in members]
        wanted = dict.fromkeys(combinations(digests, 2), self.config.matches.payoff)
        return self.matches.payoffs(digests, wanted)

    def meta_equilibrium(self, members: Sequence[Member], table: PayoffTable) -> Sigma:
        """Sigma: a mixture over the members by the run's meta-solver."""
        beyond = beyond_members(members, self.matches, self.config, self.name)
        if beyond is None:
            found = SOLVERS[self.config.solver](table.mean, table.stderr)
        else:
            found = nash(table.mean, table.stderr, beyond=beyond)
        weights = dict(zip(table.digests, found.weights.tolist(), strict=True))
        return Sigma(weights, found.exploitability, found.solver, dict(found.settings))

    def evaluate_policy(self, task: Task, k: int, members: Sequence[Member]) -> Evaluator:
        """What scores programs against sigma."""
        labels = {member.digest: member.label for member in members}
        counts, first = self.config.matches, self.config.selecting(k)
        return Evaluator(
            self.matches,
            task,
            name_of(self.name, k),
            counts.evaluation,
            self.lineage_of,
            labels,
            first,
            tells=self.config.oracle.writes_with_a_model,
            hidden=counts.hidden,
            sampled=self.config.halves,
        )

    def joining(self, found: Iteration, members: Sequence[Member]) -> list[Member]:
        """The policy that joins P in an iteration, as an entrant of the arena; nobody, or one."""
        if not found.accepted or found.accepted in {member.digest for member in members}:
            return []
        return [accept(self.matches.arena, self.name, found.accepted, found.k)]
