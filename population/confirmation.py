"""From an oracle's answer to the policy that joins, and to a u that is not too high.

The score by which a program was chosen is the largest of several noisy ones, so it is too high on
average, and the more so the more were tried.  What is reported is measured afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from oracle.asking import Answer
from oracle.values import Attempt, Failure, Score

Afresh = Callable[[str], Score | Failure]
"""Scores a registered program, by its digest, by matches that had no part in choosing it."""


def confirmed(answer: Answer, digest: str, afresh: Afresh) -> tuple[str, Answer]:
    """The program that joins, and the answer with its score as it is measured afresh.

    The score decides nothing any more, or it would be a choice again.  Only a program that
    forfeits is passed over: the attempt becomes a failure with the reason, and the next best is
    taken.

    Args:
      answer: of the oracle.
      digest: of the program that it offers; "" for none.
      afresh: measures.

    Returns:
      The digest of the program that joins, "" where none does; and the answer with its score.
    """
    faults: dict[str, Failure] = {}
    joining, score = "", None
    for candidate in _by_rank(answer, digest):
        result = afresh(candidate)
        if isinstance(result, Score):
            joining, score = candidate, result
            break
        faults[candidate] = result
    attempts = tuple(_passed_over(attempt, faults, joining) for attempt in answer.attempts)
    return joining, replace(answer, score=score, attempts=attempts)


def _by_rank(answer: Answer, digest: str) -> Iterator[str]:
    """The program that is offered, then the others that were scored.

    Those with the most matches come first, because a score of few is more luck, and among those the
    best.
    """
    if not digest:
        return
    ranked = sorted(
        ((attempt.score, attempt) for attempt in answer.attempts if attempt.score is not None),
        key=lambda pair: (-sum(one.matches for one in pair[0].against), -pair[0].u, pair[1].number),
    )
    yield from dict.fromkeys([digest, *(attempt.digest for _, attempt in ranked)])


def _passed_over(attempt: Attempt, faults: dict[str, Failure], joining: str) -> Attempt:
    if attempt.digest in faults and attempt.score is not None:
        return replace(attempt, score=None, failure=faults[attempt.digest], kept=False)
    if faults and attempt.digest == joining and attempt.score is not None:
        return replace(attempt, kept=True)
    return attempt
