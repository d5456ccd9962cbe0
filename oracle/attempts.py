"""Drafts of one task, written and scored, with an account of every one of them.

What all oracle variants share.  They differ in what they ask for next.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import TYPE_CHECKING

from arena.cancellation import wanted_until
from arena.source_check import normalised_digest
from arena.submission import KIND, Source, as_source
from oracle.drafts import Draft, Writer
from oracle.end import End
from oracle.insight import Insight, Latest, Told, Tried, insight_of
from oracle.models.errors import BudgetSpent
from oracle.outcome import Outcome, standing
from oracle.rations import ration_of
from oracle.values import (
    Attempt,
    Candidate,
    Evaluate,
    Failure,
    OracleExhausted,
    Rejected,
    Response,
    Score,
    Task,
)
from oracle.waves import Wave
from registry import digest_of

if TYPE_CHECKING:
    from arena.analysis.stationary import Ceiling

Measure = Callable[[Sequence[str]], Sequence[Score | Failure]]
"""Scores programs: `Evaluate` at some effort, or a cascade of several."""


def rng_of(task: Task, *parts: object) -> random.Random:
    """The random choices of one step; they follow from the task's seed and the step's name."""
    return random.Random("/".join(str(part) for part in (task.seed, task.key, *parts)))


def digest_in(task: Task, source: str) -> str:
    """Identity of a program in the registry."""
    tidy = as_source(source)
    text = tidy.text if isinstance(tidy, Source) else source
    return digest_of(task.game.name, KIND, text)


def told_about(insight: Insight, draft: Draft, outcomes: Sequence[Outcome]) -> Told:
    """What a draft is told; depends on nothing but the attempts before it."""
    scored = [(one.source, one.score) for one in outcomes if one.score is not None]
    score = draft.score if draft.source else None
    traced = insight.traces(draft.source, score) if score else ()
    tried = tuple(_tried(insight, one) for one in outcomes)
    latest = _latest(insight, draft.source, outcomes) if score else None
    return Told(traced, insight.ceiling(scored), tried, latest)


def _latest(insight: Insight, source: str, outcomes: Sequence[Outcome]) -> Latest | None:
    """The latest other program that was scored: a change that did not help, or an ancestor."""
    for one in reversed(outcomes):
        if one.score is not None and one.source != source:
            return Latest(_tried(insight, one), insight.traces(one.source, one.score))
    return None


def _tried(insight: Insight, outcome: Outcome) -> Tried:
    failure = outcome.failure
    return Tried(
        outcome.draft.key,
        outcome.source,
        outcome.score,
        insight.idea(outcome.source) if outcome.source else "",
        f"{failure.kind.value}: {failure.reason}" if failure else "",
    )


class Attempts:
    """Everything that an oracle tries for one task, in order."""

    def __init__(
        self,
        task: Task,
        writer: Writer,
        evaluate: Evaluate,
        workers: int = 1,
        first_look: float = 1.0,
    ) -> None:
        """Begins the account.

        Args:
          task: whose drafts these are.
          writer: writes them.
          evaluate: scores them.
          workers: how many drafts are written at the same time.
          first_look: share of a full evaluation that every program is played for, so that it can
            be played while others are written.
        """
        self.task = task
        self._writer = writer
        self._evaluate = evaluate
        self._workers = workers
        self._first_look = first_look
        self._slots = threading.Semaphore(workers)
        self._stopped, self._ended = threading.Event(), threading.Event()
        self._errors: list[BaseException] = []
        self._insight, self._ration = insight_of(evaluate), ration_of(evaluate)
        self._outcomes: dict[int, Outcome] = {}
        self._parents: dict[int, str] = {}
        self._kept: set[int] = set()
        contract = task.game.contract
        self._known = {normalised_digest(one.source, contract): one.ref for one in task.opponents}
        self._seen: dict[int, dict[str, str]] = {}
        self._keys: dict[int, dict[str, str]] = {}
        self._written_as: dict[int, dict[str, str]] = {}
        self._groups: dict[int, list[Outcome]] = {}

    @property
    def in_order(self) -> bool:
        """Whether programs are scored in an order of their own, whichever is written first."""
        return self._ration is not None

    def closed(self) -> bool:
        """Whether no other program can be scored, as all matches were played that may be."""
        return self._ration is not None and self._ration.closed()

    @property
    def scored(self) -> tuple[Outcome, ...]:
        """All scored drafts so far, best first, those that races gave up last."""
        found = [outcome for outcome in self._outcomes.values() if outcome.score is not None]
        return tuple(sorted(found, key=standing))

    def ceiling(self, group: int = 0) -> Ceiling | None:
        """The most that can be had, as far as whoever scores can tell by a group's programs."""
        return self._ceiling(self._groups.get(group, []))

    def most(self) -> Ceiling | None:
        """The same by all programs that were scored."""
        return self._ceiling([self._outcomes[number] for number in sorted(self._outcomes)])

    def _ceiling(self, known: Sequence[Outcome]) -> Ceiling | None:
        if self._insight is None:
            return None
        return self._insight.ceiling(
            [(one.source, one.score) for one in known if one.score is not None]
        )

    def inspirations(self, without: str = "") -> tuple[tuple[str, Score], ...]:
        """All scored programs so far but that one, best first."""
        return tuple(
            (outcome.source, outcome.score)
            for outcome in self.scored
            if outcome.score is not None and outcome.source != without
        )

    def run(self, drafts: Sequence[Draft], measure: Measure | None = None) -> tuple[Outcome, ...]:
        """Writes and scores drafts, all from the state as it is.

        Args:
          drafts: what to start from.
          measure: scores the programs; by default a full evaluation.

        Returns:
          What came of each, in order.
        """
        with self.begun(drafts) as wave:
            return self.scores(wave, len(self._outcomes), measure)

    def begun(self, drafts: Sequence[Draft], group: int = 0) -> Wave:
        """Drafts that begin to be written, all from the state of their group as it is."""
        informed = [self._informed(draft, group) for draft in drafts]
        return Wave(informed, self._written, self._workers, self.stop)

    def tell_of(self, programs: Sequence[Outcome], group: int = 0) -> None:
        """Drafts of a group are told of these scored programs, wherever they come from."""
        known = self._groups.setdefault(group, [])
        keys = {one.draft.key for one in known}
        known += [one for one in programs if one.draft.key not in keys]

    def key_of(self, source: str, group: int = 0) -> str:
        """Key of the first draft of a group that became this program, "" where none did."""
        return self._written_as.get(group, {}).get(source, "")

    def stop(self, error: BaseException | None = None) -> None:
        """Drafts that wait for their turn are not written any more: nobody will take them.

        Args:
          error: what ended the task, Ctrl-C included; then calls that wait for a busy server end
            too, and nothing more is asked.  Calls under way are paid for, and end by themselves.
            Where the budget is spent, what it admitted before is still asked.
        """
        self._stopped.set()
        if error is not None and not isinstance(error, BudgetSpent):
            self._ended.set()

    def scores(
        self, wave: Wave, first: int, measure: Measure | None = None, group: int = 0
    ) -> tuple[Outcome, ...]:
        """Scores the drafts of a wave; plays those that are ready while others are written.

        What comes of it does not depend on which draft is ready first.

        Args:
          wave: of drafts.
          first: number of its first attempt.
          measure: scores the programs; by default a full evaluation.
          group: among whose attempts a program must be new; its drafts are told of them.

        Returns:
          What came of each, in order.
        """
        if not self.in_order:
            self._play_early(wave, group)
        written = wave.results()
        judged = [self._duplicate(draft, group) for draft in written]
        named = self._written_as.setdefault(group, {})
        for draft in written:
            named.setdefault(draft.source, draft.key)
        sources = [one.source for one, no in zip(written, judged, strict=True) if no is None]
        results = iter((measure or self._evaluate)(sources) if sources else ())
        outcomes = tuple(
            self._record(first + place, asked, draft, failure or next(results))
            for place, (asked, draft, failure) in enumerate(
                zip(wave.drafts, written, judged, strict=True)
            )
        )
        self._groups.setdefault(group, []).extend(outcomes)
        return outcomes

    def _play_early(self, wave: Wave, group: int) -> None:
        """Plays what is written for the first look that every program gets, while others are.

        That only fills the store of matches: who is a duplicate of whom, and what comes of a draft,
        is decided in order, when all are written.  So of two equal programs the later one is played
        in vain where it comes first; else nothing is played that would not be anyway.
        """
        known = set(self._seen.get(group, self._known))
        for arrived in wave.early():
            new: dict[str, str] = {}
            for draft in arrived:
                new.setdefault(self._does(draft), draft.source)
            fresh = [source for does, source in new.items() if does and does not in known]
            known.update(new)
            if fresh:
                self._evaluate(fresh, effort=self._first_look)

    def keep(self, outcome: Outcome) -> None:
        """Notes that a draft became (one of) the best."""
        self._kept.add(outcome.number)

    def response(self, best: Outcome | None, end: End) -> Response:
        """The answer to the task.

        Args:
          best: of what was tried; None for none.
          end: why nothing more is tried.

        Raises:
          OracleExhausted: there is no best.
        """
        if best is None or best.score is None:
            failures = [one.failure for one in self._outcomes.values()]
            reasons = sorted({one.kind.value for one in failures if one})
            raise OracleExhausted(
                f"{self.task.key}: none of {len(self._outcomes)} drafts by {self._writer.name} "
                f"could be scored ({', '.join(reasons)})",
                self.attempts,
                end,
            )
        candidate = Candidate(
            best.source, best.digest, best.score, self._parents[best.number], best.draft.call
        )
        return Response(candidate, self.attempts, end)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Everything that was tried so far."""
        return tuple(
            Attempt(
                place,
                self._parents[number],
                outcome.draft.call,
                outcome.digest,
                outcome.score,
                outcome.failure,
                number in self._kept,
                outcome.draft.repairs,
            )
            for place, (number, outcome) in enumerate(sorted(self._outcomes.items()))
        )

    def _informed(self, draft: Draft, group: int) -> Draft:
        """The draft with what is known beside its score, where whoever scores tells it."""
        if self._insight is None:
            return draft
        return replace(draft, told=told_about(self._insight, draft, self._groups.get(group, [])))

    def _written(self, draft: Draft) -> Draft:
        with self._slots, wanted_until(self._ended):
            if self._stopped.is_set():
                raise self._errors[0] if self._errors else CancelledError
            try:
                return self._writer.write(self.task, draft)
            except BaseException as error:
                self._failed(error)
                raise

    def _failed(self, error: BaseException) -> None:
        """Ends the other drafts too; whichever of them is asked for first tells why it all ended.

        Raises:
          BaseException: another draft failed before.
        """
        if isinstance(error, BudgetSpent):
            return
        self._errors.append(error)
        self.stop(error)
        if self._errors[0] is not error:
            raise self._errors[0]

    def _duplicate(self, written: Draft, group: int) -> Failure | None:
        """The writer's own failure, or that the program is known; notes a new one as known."""
        if written.failure is not None:
            return written.failure
        seen = self._seen.setdefault(group, dict(self._known))
        keys = self._keys.setdefault(group, dict(self._known))
        same = self._does(written)
        if same and same in seen:
            return Failure(
                Rejected.DUPLICATE,
                f"but for its layout, comments and names this is the program of "
                f"{seen[same]}, which is known already; write one that behaves differently",
                twin=keys.get(same, ""),
            )
        seen[same] = f"attempt {written.key}"
        keys[same] = written.key
        return None

    def _does(self, written: Draft) -> str:
        """Digest of what a program does; "" where there is none, or none that compiles."""
        return normalised_digest(written.source, self.task.game.contract) if written.source else ""

    def _record(
        self, number: int, asked: Draft, written: Draft, result: Score | Failure
    ) -> Outcome:
        outcome = Outcome(
            number=number,
            draft=written,
            digest=digest_in(self.task, written.source) if written.source else "",
            score=result if isinstance(result, Score) else None,
            failure=result if isinstance(result, Failure) else None,
        )
        self._outcomes[number] = outcome
        is_parent = asked.source and asked.score is not None
        self._parents[number] = digest_in(self.task, asked.source) if is_parent else ""
        return outcome


def revision(key: str, best: Outcome | None, last: Outcome, attempts: Attempts) -> Draft:
    """What to ask for next: a better version of the best, or of what failed where none is sound."""
    if best is None:
        return Draft(key, source=last.source, failure=last.failure)
    others = attempts.inspirations(without=best.source)
    return Draft(key, best.source, best.score, last.failure, others)


def renamed(draft: Draft, key: str) -> Draft:
    """The same request under another key, for another answer."""
    return replace(draft, key=key)
