"""Gathers what a report tells, from the registry, the matches, the runs and the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from arena.games import game as game_named
from arena.games.protocol import Game
from arena.house.population import Population, default_population
from arena.payoffs import PayoffTable
from arena.readable import readable
from arena.seam import AnyArena
from arena.submission import KIND
from oracle.models.budget import Spent
from population.comparison import BEST_BY, best_single
from population.config import CUSTOM, OracleChoice
from population.csro import Result
from population.members import Member, label_of
from population.newcomers import first_newcomer
from population.oracles import journal_of
from population.records import Iteration, RunRecord, Sigma
from population.runs import Runs
from population.scores import Measured, Scores, measured
from population.usage import Usage, usage_of
from registry.values import PolicyVersion


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """One member of P.

    Attributes:
      digest: its identity.
      label: "initial", "k01", ...
      ref: what it is called in the registry.
      description: in its author's words, never trusted as markup.
      source: its program.
      parent: what it was made from: label of a member, reference of a candidate, "" for none.
      parent_source: that one's program.
    """

    digest: str
    label: str
    ref: str
    description: str
    source: str
    parent: str
    parent_source: str


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration, and what the meta-strategy after it scores against the evaluation population.

    Attributes:
      iteration: as stored.
      rejected: number of attempts by the kind of their rejection.
      spent: on model calls.
      scores: of the sigma after it, which counts whoever joined (the one that it was to beat is
        that of the step before); None where it is not known yet or was not measured.
    """

    iteration: Iteration
    rejected: dict[str, int]
    spent: Spent
    scores: Scores | None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Everything about a run.

    Attributes:
      record: the run.
      game: what it plays.
      members: P so far, in the order of joining.
      begun: scores of the sigma before the first iteration, which is the initial policy; None
        where it was not measured.
      steps: its finished iterations.
      payoffs: among the members; pairs that have not met are NaN.
      sigma: the meta-strategy over all members where the run is finished, else the last one.
      measured: members against the evaluation population.
      scores: of `sigma`; None where it was not measured.
      first: the first newcomer, which knew no other program of the run, as (digest, scores); None
        where it was not measured.
      best: the best single member that was measured, likewise.
      usage: of the model.
      mixture: reference of the registered meta-strategy, "" before the run is finished.
    """

    record: RunRecord
    game: Game
    members: tuple[MemberFacts, ...]
    begun: Scores | None
    steps: tuple[Step, ...]
    payoffs: PayoffTable
    sigma: Sigma | None
    measured: Measured
    scores: Scores | None
    first: tuple[str, Scores] | None
    best: tuple[str, Scores] | None
    usage: Usage
    mixture: str

    @property
    def results(self) -> list[tuple[str, Scores]]:
        """What was measured: the whole, and beside it what its parts reach alone."""
        labels = {member.digest: member.label for member in self.members}
        found = [("meta-strategy", self.scores)] if self.scores else []
        if self.first is not None:
            found.append((f"first newcomer ({labels[self.first[0]]})", self.first[1]))
        if self.best is not None:
            found.append((f"best single policy ({labels[self.best[0]]}, {BEST_BY})", self.best[1]))
        return found


def sigmas_of(record: RunRecord, iterations: tuple[Iteration, ...]) -> list[Sigma]:
    """Every meta-strategy of a run so far."""
    found = [iteration.sigma for iteration in iterations]
    return [*found, record.final] if record.final else found


def gather(
    arena: AnyArena, runs: Runs, name: str, population: Population | None = None
) -> RunFacts:
    """Reads all about a run; plays nothing.

    Args:
      arena: where its policies and matches are.
      runs: where it is recorded.
      name: of the run.
      population: what the meta-strategies are measured on; by default the game's.

    Raises:
      UnknownRun: there is none of that name.
    """
    record = runs.get(name)
    game = game_named(record.config.game)
    iterations = runs.iterations(name)
    joined = members_of(record, iterations)
    known = measured(arena, game, list(joined), population or default_population(game.name))
    usage = usage_of(journal_of(runs, name))
    sigmas = sigmas_of(record, iterations)
    scored = known.all_of([sigma.weights for sigma in sigmas])
    after = (*scored[1:], None)  # the sigma after the last iteration of a run that goes on
    pairs = dict.fromkeys(combinations(joined, 2), record.config.matches.payoff)
    return RunFacts(
        record=record,
        game=game,
        members=_members(arena, joined, iterations, record.config.oracle),
        begun=scored[0] if scored else None,
        steps=tuple(
            _step(iteration, scores, usage)
            for iteration, scores in zip(iterations, after, strict=False)
        ),
        payoffs=arena.exact_payoffs(game, tuple(joined), pairs),
        sigma=sigmas[-1] if sigmas else None,
        measured=known,
        scores=scored[-1] if scored else None,
        first=_first(joined, record, known),
        best=best_single(known),
        usage=usage,
        mixture=_ref(arena, record.mixture),
    )


def _first(joined: Iterable[str], record: RunRecord, known: Measured) -> tuple[str, Scores] | None:
    digest = first_newcomer(joined, record)
    scores = known.single(digest) if digest else None
    return (digest, scores) if digest and scores else None


def result_of(arena: AnyArena, runs: Runs, name: str) -> Result:
    """What a finished run came to; asks no oracle and plays nothing."""
    record = runs.get(name)
    labels = members_of(record, runs.iterations(name))
    versions = arena.versions([*labels, record.mixture])
    members = tuple(
        Member(one, label, versions[one].payload, versions[one].kind)
        for one, label in labels.items()
    )
    assert record.final is not None  # a finished run has one
    return Result(members, record.final, versions[record.mixture])


def members_of(record: RunRecord, iterations: tuple[Iteration, ...]) -> dict[str, str]:
    """Digest of each member to its label, in the order of joining."""
    joined = {record.initial: "initial"} if record.initial else {}
    for iteration in iterations:
        if iteration.accepted:
            joined.setdefault(iteration.accepted, label_of(iteration.k))
    return joined


def _members(
    arena: AnyArena,
    joined: dict[str, str],
    iterations: tuple[Iteration, ...],
    choice: OracleChoice,
) -> tuple[MemberFacts, ...]:
    parents: dict[str, str] = {}
    for one in iterations:  # whoever is accepted again came about the first time
        if one.accepted:
            parents.setdefault(one.accepted, _parent(one, choice))
    wanted = {*joined, *filter(None, parents.values())}
    versions = arena.versions(wanted)
    return tuple(
        MemberFacts(
            digest=digest,
            label=label,
            ref=versions[digest].ref,
            description=versions[digest].description,
            source=readable(versions[digest]),
            parent=joined.get(parent) or (versions[parent].ref if parent else ""),
            parent_source=_program(versions[parent]) if parent else "",
        )
        for digest, label in joined.items()
        for parent in [parents.get(digest, "")]
    )


def _program(version: PolicyVersion) -> str:
    """The source of a program; other kinds are not made from one another."""
    return version.payload if version.kind == KIND else ""


def _parent(iteration: Iteration, choice: OracleChoice) -> str:
    """What the accepted program was made from; "" for nothing, or where the oracle does not say.

    That is an earlier draft, else the heaviest opponent, where the oracle begins with that one.
    """
    for attempt in iteration.attempts:
        if attempt.digest == iteration.accepted and attempt.parent:
            return attempt.parent
    if choice.model == CUSTOM or choice.name == "zero-shot" or choice.training is not None:
        return ""
    return next(iter(iteration.sigma.support))


def _step(iteration: Iteration, scores: Scores | None, usage: Usage) -> Step:
    kinds = Counter(one.failure.kind.value for one in iteration.attempts if one.failure)
    return Step(
        iteration=iteration,
        rejected=dict(sorted(kinds.items())),
        spent=usage.by_task.get(label_of(iteration.k), Spent()),
        scores=scores,
    )


def _ref(arena: AnyArena, digest: str) -> str:
    return arena.versions([digest])[digest].ref if digest else ""
