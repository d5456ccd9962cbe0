"""ZeroShot: the first program that can be scored is the answer (paper, section 2.4.2, item 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from oracle.attempts import Attempts, revision
from oracle.drafts import Draft, Writer
from oracle.end import End, Ended
from oracle.outcome import Outcome
from oracle.values import Evaluate, Response, Task


@dataclass(frozen=True, slots=True)
class ZeroShot:
    """Never refines.  Only a draft that cannot be scored at all is asked for again.

    As in the paper, a model is shown no program to start from, only opponents.

    Attributes:
      writer: writes the program.
      tries: drafts at most, the first one included.
    """

    writer: Writer
    tries: int = 4
    name: str = "zero-shot"

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise ValueError(f"tries is {self.tries}; it must be at least 1")

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`."""
        task = replace(task, incumbent="")
        attempts = Attempts(task, self.writer, evaluate)
        found: Outcome | None = None
        draft = Draft("a00")
        for number in range(1, self.tries + 1):
            (outcome,) = attempts.run([draft])
            if outcome.score is not None:
                found = outcome
                attempts.keep(outcome)
                break
            if number < self.tries and attempts.closed():
                break
            draft = revision(f"a{number:02}", None, outcome, attempts)
        return attempts.response(found, End((Ended.MADE,), attempts.most()))
