"""Small oracles that need no model: they write programs from the task's seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass

from oracle.attempts import digest_in
from oracle.values import (
    Attempt,
    Candidate,
    Evaluate,
    Failure,
    OracleExhausted,
    Response,
    Score,
    Task,
)

_PROGRAM = '''"""A policy made by a test."""

import random

ACTIONS = ("ROCK", "PAPER", "SCISSORS")


class Agent:
    """Answers the last throw by a <b onmouseover=alert(1)>fixed shift</b> & is random at times."""

    def act(self, observation):
        last = observation["opponent_action"]
        if last is None or random.random() < {noise}:
            return random.choice(ACTIONS)
        return ACTIONS[(ACTIONS.index(last) + {shift}) % 3]
'''
BROKEN = '''class Agent:
    """Raises at its first throw."""

    def act(self, observation):
        raise ValueError("<script>alert(1)</script> & co")
'''
NOT_A_POLICY = "import socket\n\n\nclass Agent:\n    pass\n"


def program(rng: random.Random) -> str:
    """A random program of a small family."""
    return _PROGRAM.format(noise=round(rng.uniform(0.05, 0.9), 3), shift=rng.randrange(3))


@dataclass(frozen=True)
class SmallOracle:
    """Writes some programs, one that is broken and one that is no policy, and offers the best.

    In the tasks in which it is to be empty-handed, it writes only the last two.
    """

    name: str = "best-of-n"
    drafts: int = 3
    empty_handed: tuple[str, ...] = ()

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        rng = random.Random(task.seed)
        sound = 0 if task.key in self.empty_handed else self.drafts
        sources = [program(rng) for _ in range(sound)] + [BROKEN, NOT_A_POLICY]
        evaluate(sources, effort=0.3)
        results = evaluate(sources)
        scored = [(s, r) for s, r in zip(sources, results, strict=True) if isinstance(r, Score)]
        best, score = max(scored, key=lambda pair: pair[1].u, default=("", None))
        attempts = tuple(
            Attempt(
                number,
                "",
                "",
                digest_in(task, source) if isinstance(result, Score) else "",
                result if isinstance(result, Score) else None,
                result if isinstance(result, Failure) else None,
                source == best,
            )
            for number, (source, result) in enumerate(zip(sources, results, strict=True))
        )
        if score is None:
            raise OracleExhausted("nothing can be scored", attempts)
        return Response(Candidate(best, digest_in(task, best), score, "", ""), attempts)
