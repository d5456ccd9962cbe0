"""AlphaEvolve: an evolutionary search in which a writer mutates programs (paper, section 2.4.2).

Our own loop after FunSearch (Romera-Paredes et al. 2024, doi:10.1038/s41586-023-06924-6) and
AlphaEvolve (Novikov et al. 2025, arXiv:2506.13131).  On an island time passes in generations: all
drafts of a generation are made from the state at its beginning.  No island waits for another, but
for the visitor that it is to get, so the programs of one are played while those of others are
written; and the result does not depend on which is ready first.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oracle.attempts import Attempts, Measure, digest_in, rng_of
from oracle.drafts import Draft, Writer
from oracle.early_stop import EarlyStop
from oracle.end import End, Ended, joined
from oracle.ending import Ending
from oracle.insight import INCUMBENT
from oracle.islands import Island, behaviour
from oracle.outcome import Outcome
from oracle.reflection import called
from oracle.values import Evaluate, Failure, Rejected, Response, Score, Task
from oracle.waves import Wave, first_written

_BEFORE_ALL = -1
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
      specialists: how often a parent is the best against one opponent instead of a good one
        against all of them.
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
    specialists: float = 0.0
    from_incumbent: bool = True

    def __post_init__(self) -> None:
        for name in ("islands", "drafts", "migrate_every", "edit_patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("generations", "temperature", "rewrite_chance", "specialists"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 0")
        if self.grain <= 0.0:
            raise ValueError(f"grain is {self.grain}; it must be above 0")

    @property
    def attempts(self) -> int:
        """Drafts in all: each island's first, and those of its generations."""
        return self.islands * (1 + self.generations * self.drafts)


@dataclass(frozen=True, slots=True)
class AlphaEvolve:
    """Evolves programs on islands and answers with the best.

    Attributes:
      writer: mutates programs.
      evolution: how they evolve.
      early_stop: the evaluation cascade.
      workers: drafts that are written at the same time.
      ending: when evolution ends before its last generation; None for never.
    """

    writer: Writer
    evolution: Evolution = field(default_factory=Evolution)
    early_stop: EarlyStop = field(default_factory=EarlyStop)
    workers: int = 1
    ending: Ending | None = None
    name: str = "alpha-evolve"

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`."""
        attempts = Attempts(task, self.writer, evaluate, self.workers)
        sea = Sea(self._settled(task, evaluate), self.evolution)
        waves: dict[int, Wave] = {}
        try:
            while not sea.over and not attempts.closed():
                for number in sea.waiting(waves):
                    sea.migrate(number)
                    attempts.tell_of(sea.islands[number].programs, group=number)
                    if (end := self._end(sea, number, attempts)) is not None:
                        sea.end(number, end)
                    else:
                        drafts = self._drafts(task, sea.islands[number], sea)
                        waves[number] = attempts.begun(drafts, group=number)
                if waves:
                    number = _first(waves, sea, in_order=attempts.in_order)
                    with waves.pop(number) as wave:
                        self._play(task, evaluate, sea, wave, number, attempts)
        except BaseException as error:  # Ctrl-C too
            attempts.stop(error)
            raise
        finally:  # where one raised (the budget may be spent), nobody starts another
            attempts.stop()
            for wave in waves.values():
                wave.close()
        best = _answer(attempts.scored, evaluate)
        return attempts.response(best, joined(sea.ends, attempts.most()))

    def _end(self, sea: Sea, number: int, attempts: Attempts) -> End | None:
        """Why an island asks for no more; None where it goes on."""
        if self.ending is None or sea.ages[number] == 0:
            return None
        ceiling = attempts.ceiling(number)
        why = self.ending.why(sea.islands[number].best, ceiling, sea.quiet[number])
        return None if why is None else End((why,), ceiling)

    def _play(
        self, task: Task, evaluate: Evaluate, sea: Sea, wave: Wave, number: int, attempts: Attempts
    ) -> None:
        """A generation of an island, whose drafts are on their way, is scored and joins it."""
        island = sea.islands[number]
        measure = self._measure(task, evaluate, island, attempts)
        outcomes = attempts.scores(wave, sea.first_attempt(number), measure, group=number)
        quiet = self.ending is not None and self.ending.quiet(task, island.best, outcomes)
        tried = list(zip(wave.drafts, outcomes, strict=True))
        sea.advance(self._grown(task, island, tried, attempts), quiet=quiet)

    def _settled(self, task: Task, evaluate: Evaluate) -> tuple[Island, ...]:
        """The islands before anything evolved."""
        founders: tuple[Outcome, ...] = ()
        if self.evolution.from_incumbent and task.incumbent:
            (score,) = evaluate([task.incumbent])
            if isinstance(score, Score):
                draft = Draft(INCUMBENT, source=task.incumbent)
                digest = digest_in(task, task.incumbent)
                founders = (Outcome(_BEFORE_ALL, draft, digest, score, None),)
        return tuple(Island(number, founders) for number in range(self.evolution.islands))

    def _drafts(self, task: Task, island: Island, sea: Sea) -> list[Draft]:
        """What an island asks for in its next generation; only its state decides.

        The founding generation asks for one program without an ancestor.
        """
        generation = sea.ages[island.number]
        number = self.evolution.drafts if generation else 1
        keys = [f"i{island.number}g{generation:02}d{place}" for place in range(number)]
        if not generation:
            return [Draft(keys[0])]
        return [self._draft(task, island, key) for key in keys]

    def _draft(self, task: Task, island: Island, key: str) -> Draft:
        if island.best is None:
            failed = island.stillborn
            if failed is None:
                return Draft(key)
            return Draft(key, source=failed.source, failure=failed.failure)
        rng = rng_of(task, key)
        grain = self.evolution.grain * task.game.length
        parent = island.parent(rng, self.evolution.temperature, grain)
        if self.evolution.specialists and rng.random() < self.evolution.specialists:
            parent = island.specialist(rng)
        rewrite = rng.random() < self.evolution.rewrite_chance
        return Draft(
            key,
            source=parent.source,
            score=parent.score,
            failure=island.last_failure(parent),
            inspirations=island.inspirations(parent),
            edit=island.failed_edits < self.evolution.edit_patience and not rewrite,
        )

    def _measure(
        self, task: Task, evaluate: Evaluate, island: Island, attempts: Attempts
    ) -> Measure:
        """The cascade, and after it the check that a program behaves like no other there."""
        programs = island.programs
        champion = island.best
        staged = self.early_stop.measure(task, evaluate, champion.score if champion else None)
        known = {behaviour(one.score): one for one in programs if one.score is not None}
        seen = {same: one.draft.key for same, one in known.items()}

        def novel(sources: Sequence[str]) -> tuple[Score | Failure, ...]:
            found: list[Score | Failure] = []
            for source, score in zip(sources, staged(sources), strict=True):
                if isinstance(score, Failure):
                    found.append(score)
                    continue
                same = behaviour(score)
                found.append(_duplicate_of(seen[same]) if same in seen else score)
                seen.setdefault(same, attempts.key_of(source, island.number))
            return tuple(found)

        return novel

    @staticmethod
    def _grown(
        task: Task, island: Island, tried: Sequence[tuple[Draft, Outcome]], attempts: Attempts
    ) -> Island:
        """The island after a generation."""
        for draft, outcome in tried:
            before = island.best
            scored_parent = bool(draft.source) and draft.score is not None
            parent = digest_in(task, draft.source) if scored_parent else ""
            island = island.with_outcome(outcome, parent, draft.edit)
            if island.best is outcome and island.best is not before:
                attempts.keep(outcome)
        return island


class Sea:
    """The islands, and how old each has become.

    Attributes:
      islands: by number.
      ages: generations that each has had, or will not have any more.
      quiet: generations in a row that brought each nothing but noise.
      ends: why each has no more generations, or will have none after its last.
    """

    def __init__(self, islands: Sequence[Island], evolution: Evolution) -> None:
        """Before anything evolved.

        Args:
          islands: with what they begin with.
          evolution: how programs evolve.
        """
        self.islands = list(islands)
        self.ages = [0] * len(islands)
        self.quiet = [0] * len(islands)
        self.ends = [End((Ended.MADE,))] * len(islands)
        self._evolution = evolution
        self._bests: list[list[Outcome | None]] = [[] for _ in islands]

    @property
    def over(self) -> bool:
        """Whether every island has had its last generation."""
        return min(self.ages) > self._evolution.generations

    def waiting(self, busy: Container[int]) -> list[int]:
        """Numbers of the islands that can begin their next generation.

        Args:
          busy: numbers of those that are in one.
        """
        return [
            number
            for number, age in enumerate(self.ages)
            if number not in busy
            and age <= self._evolution.generations
            and (not self._visited(age) or self.ages[number - 1] >= age)
        ]

    def migrate(self, number: int) -> None:
        """Where it is time, the best program of the one before in the ring visits an island.

        It is what was the best there before its own generation of that age, however far it is now.
        """
        age = self.ages[number]
        if self._visited(age):
            bests = self._bests[number - 1]
            visitor = bests[min(age, len(bests)) - 1]
            self.islands[number] = self.islands[number].visited_by(visitor)

    def first_attempt(self, number: int) -> int:
        """Number of the first attempt of an island's next generation."""
        age, islands, drafts = self.ages[number], len(self.islands), self._evolution.drafts
        return number if age == 0 else islands + ((age - 1) * islands + number) * drafts

    def end(self, number: int, end: End) -> None:
        """An island will not have any more generations; its best still visits others.

        That may be a visitor, for whose sake it ends.
        """
        self.ends[number] = end
        self.ages[number] = self._evolution.generations + 1
        self._bests[number].append(self.islands[number].best)

    def advance(self, island: Island, *, quiet: bool = False) -> None:
        """An island is a generation older.

        Args:
          island: as it is now.
          quiet: whether the generation brought nothing but noise.
        """
        self.quiet[island.number] = self.quiet[island.number] + 1 if quiet else 0
        self.islands[island.number] = island
        self.ages[island.number] += 1
        self._bests[island.number].append(island.best)

    def _visited(self, age: int) -> bool:
        return age > 0 and age % self._evolution.migrate_every == 0


def _first(waves: Mapping[int, Wave], sea: Sea, *, in_order: bool) -> int:
    """Of the islands whose drafts are all written, the youngest; waits until there is one.

    In order: the youngest of all, whether its drafts are written or not.
    """
    order = sorted(waves, key=lambda number: (sea.ages[number], number))
    if in_order:
        return order[0]
    found = first_written([waves[number] for number in order])
    return next(number for number in order if waves[number] is found)


def _answer(scored: Sequence[Outcome], evaluate: Evaluate) -> Outcome | None:
    """The best of the programs, of those that no race gave up if it can be, scored in full."""
    for outcome in scored:
        (score,) = evaluate([outcome.source])
        if isinstance(score, Score):
            return replace(outcome, score=score)
    return None


def _duplicate_of(same: str) -> Failure:
    """A program returns what that draft's does."""
    return Failure(
        Rejected.DUPLICATE,
        f"in every match it returns exactly what {called(same)} returns; change what the "
        "program does, not only how it is written",
        twin=same,
    )
