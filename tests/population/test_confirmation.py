"""Who joins, and with which u, once an oracle has answered."""

from __future__ import annotations

from oracle.asking import Answer
from oracle.values import Against, Attempt, Failure, Rejected, Score
from population.confirmation import confirmed

CRASHED = Failure(Rejected.FAULTY, "crashed in 1 of its matches")


def score(u: float, matches: int = 8) -> Score:
    return Score(u, 1.0, (Against("o", u, 1.0, matches),))


def attempt(number: int, told: Score | Failure, *, kept: bool = False) -> Attempt:
    scored = isinstance(told, Score)
    return Attempt(
        number, "", "", f"d{number}", told if scored else None, None if scored else told, kept
    )


ATTEMPTS = (
    attempt(0, score(5.0)),
    attempt(1, score(9.0), kept=True),
    attempt(2, Failure(Rejected.NO_CODE, "no code")),
    attempt(3, score(8.0, matches=2)),
    attempt(4, score(7.0)),
)
ANSWER = Answer("the best", score(9.0), ATTEMPTS)


class Measures:
    """Measures afresh: some programs crash, all others return -3."""

    def __init__(self, *crashing: str) -> None:
        self.asked: list[str] = []
        self._crashing = crashing

    def __call__(self, digest: str) -> Score | Failure:
        self.asked.append(digest)
        return CRASHED if digest in self._crashing else score(-3.0)


def test_what_was_chosen_joins_with_what_it_returns_afresh_however_little() -> None:
    measures = Measures()
    digest, answer = confirmed(ANSWER, "d1", measures)
    assert (digest, answer.score) == ("d1", score(-3.0))
    assert answer.attempts == ATTEMPTS
    assert measures.asked == ["d1"]


def test_what_forfeits_is_passed_over_and_says_why() -> None:
    measures = Measures("d1", "d4")
    digest, answer = confirmed(ANSWER, "d1", measures)
    assert (digest, answer.score) == ("d0", score(-3.0))
    # The next best of those that were played in full; what few matches flatter comes last.
    assert measures.asked == ["d1", "d4", "d0"]
    assert [one.failure and one.failure.kind for one in answer.attempts] == [
        None,
        Rejected.FAULTY,
        Rejected.NO_CODE,
        None,
        Rejected.FAULTY,
    ]
    assert [one.score and one.score.u for one in answer.attempts] == [5.0, None, None, 8.0, None]
    assert [one.kept for one in answer.attempts] == [True, False, False, False, False]


def test_where_all_forfeit_or_nothing_is_offered_nobody_joins() -> None:
    everybody = Measures("d0", "d1", "d3", "d4")
    digest, answer = confirmed(ANSWER, "d1", everybody)
    assert (digest, answer.score) == ("", None)
    assert everybody.asked == ["d1", "d4", "d0", "d3"]
    assert not any(one.score or one.kept for one in answer.attempts)
    nothing = Measures()
    assert confirmed(Answer("", None, ATTEMPTS), "", nothing)[0] == ""
    assert nothing.asked == []
