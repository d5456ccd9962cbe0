"""Drafts of one task, written and scored, with an account of every one of them.

What all oracle variants share.  They differ in what they ask for next.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from arena.source_check import normalised_digest
from arena.submission import KIND, Source, as_source
from oracle.values import (
    Attempt,
    Candidate,
    Draft,
    Evaluate,
    Failure,
    OracleExhausted,
    Rejected,
    Response,
    Score,
    Task,
    Writer,
)
from registry import digest_of

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one draft: a scored program, or a failure.

    Attributes:
      number: of the attempt.
      draft: as the writer returned it.
      digest: of the program, "" where there is none.
      score: None where it failed.
      failure: None where it was scored.
    """

    number: int
    draft: Draft
    digest: str
    score: Score | None
    failure: Failure | None

    @property
    def source(self) -> str:
        """The program."""
        return self.draft.source

    @property
    def u(self) -> float:
        """Expected return against sigma.

        Raises:
          ValueError: it was not scored; a failure has no return, not even a bad one.
        """
        if self.score is None:
            raise ValueError("a draft that failed has no score")
        return self.score.u


def best_of(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The scored one with the highest u, the earliest of equals; None where all failed."""
    scored = [outcome for outcome in outcomes if outcome.score is not None]
    return max(scored, key=lambda outcome: (outcome.u, -outcome.number)) if scored else None


class Trials:
    """Everything that an oracle tries for one task, in order."""

    def __init__(self, task: Task, writer: Writer, evaluate: Evaluate, workers: int = 1) -> None:
        """Begins the account.

        Args:
          task: whose drafts these are.
          writer: writes them.
          evaluate: scores them.
          workers: how many drafts are written at the same time.
        """
        self.task = task
        self._writer = writer
        self._evaluate = evaluate
        self._workers = workers
        self._outcomes: list[Outcome] = []
        self._parents: list[str] = []
        self._kept: set[int] = set()
        contract = task.game.contract
        self._seen = {normalised_digest(one.source, contract): one.ref for one in task.opponents}

    @property
    def scored(self) -> tuple[Outcome, ...]:
        """All scored drafts so far, best first."""
        found = [outcome for outcome in self._outcomes if outcome.score is not None]
        return tuple(sorted(found, key=lambda outcome: (-outcome.u, outcome.number)))

    def inspirations(self, without: str = "") -> tuple[tuple[str, Score], ...]:
        """All scored programs so far but that one, best first."""
        return tuple(
            (outcome.source, outcome.score)
            for outcome in self.scored
            if outcome.score is not None and outcome.source != without
        )

    def run(self, drafts: Sequence[Draft], measure: Measure | None = None) -> tuple[Outcome, ...]:
        """Writes and scores drafts, all from the state as it is.

        What is written does not depend on which draft is ready first.

        Args:
          drafts: what to start from.
          measure: scores the programs; by default a full evaluation.

        Returns:
          What came of each, in order.
        """
        written = self._write(drafts)
        judged = [self._duplicate(draft) for draft in written]
        fresh = [
            draft.source for draft, failure in zip(written, judged, strict=True) if not failure
        ]
        results = iter((measure or self._evaluate)(fresh) if fresh else ())
        outcomes = tuple(
            self._record(asked, draft, failure or next(results))
            for asked, draft, failure in zip(drafts, written, judged, strict=True)
        )
        return outcomes

    def keep(self, outcome: Outcome) -> None:
        """Notes that a draft became (one of) the best."""
        self._kept.add(outcome.number)

    def response(self, best: Outcome | None) -> Response:
        """The answer to the task.

        Raises:
          OracleExhausted: there is no best.
        """
        if best is None or best.score is None:
            reasons = sorted({o.failure.kind.value for o in self._outcomes if o.failure})
            raise OracleExhausted(
                f"{self.task.key}: none of {len(self._outcomes)} drafts by {self._writer.name} "
                f"could be scored ({', '.join(reasons)})",
                self.attempts,
            )
        candidate = Candidate(
            best.source, best.digest, best.score, self._parents[best.number], best.draft.call
        )
        return Response(candidate, self.attempts)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Everything that was tried so far."""
        return tuple(
            Attempt(
                outcome.number,
                parent,
                outcome.draft.call,
                outcome.digest,
                outcome.score,
                outcome.failure,
                outcome.number in self._kept,
                outcome.draft.repairs,
            )
            for outcome, parent in zip(self._outcomes, self._parents, strict=True)
        )

    def _write(self, drafts: Sequence[Draft]) -> list[Draft]:
        if self._workers == 1 or len(drafts) < 2:
            return [self._writer.write(self.task, draft) for draft in drafts]
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="draft")
        try:
            return list(pool.map(lambda draft: self._writer.write(self.task, draft), drafts))
        finally:  # where one raised (the budget may be spent), nobody starts another
            pool.shutdown(cancel_futures=True)

    def _duplicate(self, written: Draft) -> Failure | None:
        """The writer's own failure, or that the program is known; notes a new one as known."""
        if written.failure is not None:
            return written.failure
        same = normalised_digest(written.source, self.task.game.contract)
        if same and same in self._seen:
            return Failure(
                Rejected.DUPLICATE,
                f"but for its layout, comments and names this is the program of "
                f"{self._seen[same]}, which is known already; write one that behaves differently",
            )
        self._seen[same] = f"attempt {written.key}"
        return None

    def _record(self, asked: Draft, written: Draft, result: Score | Failure) -> Outcome:
        outcome = Outcome(
            number=len(self._outcomes),
            draft=written,
            digest=digest_in(self.task, written.source) if written.source else "",
            score=result if isinstance(result, Score) else None,
            failure=result if isinstance(result, Failure) else None,
        )
        self._outcomes.append(outcome)
        is_parent = asked.source and asked.score is not None
        self._parents.append(digest_in(self.task, asked.source) if is_parent else "")
        return outcome


def revision(key: str, best: Outcome | None, last: Outcome, trials: Trials) -> Draft:
    """What to ask for next: a better version of the best, or of what failed where none is sound."""
    if best is None:
        return Draft(key, source=last.source, failure=last.failure)
    others = trials.inspirations(without=best.source)
    return Draft(key, best.source, best.score, last.failure, others)


def renamed(draft: Draft, key: str) -> Draft:
    """The same request under another key, for another answer."""
    return replace(draft, key=key)
