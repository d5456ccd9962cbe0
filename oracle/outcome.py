"""What came of a draft, and which of several is the best."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from oracle.drafts import Draft
from oracle.values import Failure, Score


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


def standing(outcome: Outcome) -> tuple[int, float, int]:
    """Sorts scored drafts: the best first; after them those that races gave up, the latest first.

    Raises:
      ValueError: it was not scored.
    """
    score = outcome.score
    given_up = score is not None and score.stopped
    played = sum(one.matches for one in score.against) if score and given_up else 0
    return (-played if given_up else -sys.maxsize), -outcome.u, outcome.number


def best_of(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The scored one with the highest u, the earliest of equals; None where all failed.

    What a race gave up comes behind all others: it is the best where whoever led it failed later.
    """
    scored = [outcome for outcome in outcomes if outcome.score is not None]
    return min(scored, key=standing) if scored else None


def played_out(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Those that were scored in full: no race gave them up."""
    return tuple(one for one in outcomes if one.score is not None and not one.score.stopped)
