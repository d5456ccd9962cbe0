"""AlphaEvolve: an evolutionary search in which a writer mutates programs (paper, section 2.4.2).

Our own loop after FunSearch (Romera-Paredes et al. 2024, doi:10.1038/s41586-023-06924-6) and
AlphaEvolve (Novikov et al. 2025, arXiv:2506.13131).  Time passes in generations: all drafts of a
generation are made from the state at its beginning, so many can be written and scored at once and
the result does not depend on which is ready first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from oracle.early_stop import EarlyStop, matches_of
from oracle.islands import Island, behaviour, migrated
from oracle.trials import Measure, Outcome, Trials, best_of, digest_in, rng_of
from oracle.values import (
    Draft,
    Evaluate,
    Failure,
    Rejected,
    Response,
    Score,
    Task,
    Writer,
)

_INCUMBENT = -1
"""Number of the incumbent among the programs; it is no attempt."""


@dataclass(frozen=True, slots=True)
class Evolution:
    """How programs evolve.

    Attributes:
      islands: populations that evolve apart.
      generations: after the founding one.
      drafts: programs that each island tries in a generation.
      migrate_every: generations between two migrations of the best programs.
      temperature: of the draw of parents; see `Island.parent`.
      grain: width of a class of returns in a cluster's signature, as a share of a match's length.
      edit_patience: after so many edits in a row without a sound program, an island asks for a
        whole program once.
      rewrite_chance: that a draft asks for a whole program all the same.
      from_incumbent: whether the task's incumbent is on every island from the start.
    """

    islands: int = 3
    generations: int = 10
    drafts: int = 2
    migrate_every: int = 3
    temperature: float = 0.5
    grain: float = 0.02
    edit_patience: int = 3
    rewrite_chance: float = 0.1
    from_incumbent: bool = True

    def __post_init__(self) -> None:
        for name in ("islands", "drafts", "migrate_every", "edit_patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("generations", "temperature", "rewrite_chance"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 0")
        if self.grain <= 0.0:
            raise ValueError(f"grain is {self.grain}; it must be above 0")


@dataclass(frozen=True, slots=True)
class AlphaEvolve:
    """Evolves programs on islands and answers with the best.

    Attributes:
      writer: mutates programs.
      evolution: how they evolve.
      early_stop: the evaluation cascade.
      workers: drafts that are written at the same time.
    """

    writer: Writer
    evolution: Evolution = field(default_factory=Evolution)
    early_stop: EarlyStop = field(default_factory=EarlyStop)
    workers: int = 1
    name: str = "alpha-evolve"

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`."""
        trials = Trials(task, self.writer, evaluate, self.workers)
        islands = self._settled(task, evaluate)
        for generation in range(self.evolution.generations + 1):
            if generation and generation % self.evolution.migrate_every == 0:
                islands = migrated(islands)
            drafts = [self._drafts(task, island, generation) for island in islands]
            measure = self._measure(task, evaluate, islands)
            outcomes = iter(trials.run([one for group in drafts for one in group], measure))
            islands = tuple(
                self._grown(task, island, [(draft, next(outcomes)) for draft in group], trials)
                for island, group in zip(islands, drafts, strict=True)
            )
        return trials.response(_answer(trials.scored, evaluate))

    def _settled(self, task: Task, evaluate: Evaluate) -> tuple[Island, ...]:
        """The islands before anything evolved."""
        founders: tuple[Outcome, ...] = ()
        if self.evolution.from_incumbent and task.incumbent:
            (score,) = evaluate([task.incumbent])
            if isinstance(score, Score):
                draft = Draft("incumbent", source=task.incumbent)
                digest = digest_in(task, task.incumbent)
                founders = (Outcome(_INCUMBENT, draft, digest, score, None),)
        return tuple(Island(number, founders) for number in range(self.evolution.islands))

    def _drafts(self, task: Task, island: Island, generation: int) -> list[Draft]:
        """What an island asks for in a generation; only its state decides.

        The founding generation asks for one program without an ancestor.
        """
        number = self.evolution.drafts if generation else 1
        keys = [f"i{island.number}g{generation:02}d{place}" for place in range(number)]
        if not generation:
            return [Draft(keys[0])]
        return [self._draft(task, island, key) for key in keys]

    def _draft(self, task: Task, island: Island, key: str) -> Draft:
        if not island.programs:
            failed = island.stillborn
            if failed is None:
                return Draft(key)
            return Draft(key, source=failed.source, failure=failed.failure)
        rng = rng_of(task, key)
        grain = self.evolution.grain * task.game.length
        parent = island.parent(rng, self.evolution.temperature, grain)
        rewrite = rng.random() < self.evolution.rewrite_chance
        return Draft(
            key,
            source=parent.source,
            score=parent.score,
            failure=island.complaint(parent),
            inspirations=island.inspirations(parent),
            edit=island.failed_edits < self.evolution.edit_patience and not rewrite,
        )

    def _measure(self, task: Task, evaluate: Evaluate, islands: Sequence[Island]) -> Measure:
        """The cascade, and after it the check that a program behaves like no other so far."""
        programs = [one for island in islands for one in island.programs]
        champion = best_of(programs)
        staged = self.early_stop.measure(task, evaluate, champion.score if champion else None)
        known = {behaviour(one.score): one for one in programs if one.score is not None}
        seen = {same: f"program {one.draft.key}" for same, one in known.items()}

        def novel(sources: Sequence[str]) -> tuple[Score | Failure, ...]:
            found: list[Score | Failure] = []
            for score in staged(sources):
                if isinstance(score, Failure):
                    found.append(score)
                    continue
                same = behaviour(score)
                found.append(_no_news(seen[same]) if same in seen else score)
                seen.setdefault(same, "another draft of its generation")
            return tuple(found)

        return novel

    @staticmethod
    def _grown(
        task: Task, island: Island, tried: Sequence[tuple[Draft, Outcome]], trials: Trials
    ) -> Island:
        """The island after a generation."""
        for draft, outcome in tried:
            before = island.best
            scored_parent = bool(draft.source) and draft.score is not None
            parent = digest_in(task, draft.source) if scored_parent else ""
            island = island.with_outcome(outcome, parent, draft.edit)
            if outcome.score is not None and (before is None or outcome.u > before.u):
                trials.keep(outcome)
        return island


def _answer(scored: Sequence[Outcome], evaluate: Evaluate) -> Outcome | None:
    """The best of the programs that were played longest, with the score of a full evaluation.

    A program that the cascade stopped may show a high return by the luck of its few matches.
    """
    ranked = sorted(scored, key=lambda one: (-matches_of(one), -one.u, one.number))
    for outcome in ranked:
        (score,) = evaluate([outcome.source])
        if isinstance(score, Score):
            return replace(outcome, score=score)
    return None


def _no_news(same: str) -> Failure:
    return Failure(
        Rejected.DUPLICATE,
        f"in every match it returns exactly what {same} returns; change what the program does, not "
        "only how it is written",
    )
