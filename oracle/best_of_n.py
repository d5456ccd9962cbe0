"""Best of N: independent drafts, of which the best is the answer.

The oracle of LLM-PSRO (Bachrach et al. 2025), which CSRO's paper takes as its starting point.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.attempts import Attempts, revision
from oracle.drafts import Draft, Writer
from oracle.early_stop import EarlyStop
from oracle.end import End, Ended
from oracle.outcome import best_of
from oracle.values import Evaluate, Response, Task


@dataclass(frozen=True, slots=True)
class BestOfN:
    """Writes N drafts that know nothing of each other and scores them together.

    Those that are written begin to play while others are written.

    Attributes:
      writer: writes the programs.
      drafts: N.
      workers: drafts that are written at the same time.
      early_stop: whether, and how, drafts that cannot be the best are played less.
      waves: where no draft of a wave can be scored, another N are asked for, each with its
        predecessor's failure; this many waves at most.
    """

    writer: Writer
    drafts: int = 10
    workers: int = 1
    early_stop: EarlyStop | None = None
    waves: int = 2
    name: str = "best-of-n"

    def __post_init__(self) -> None:
        for field in ("drafts", "workers", "waves"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} is {getattr(self, field)}; it must be at least 1")

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`."""
        first_look = self.early_stop.first_look if self.early_stop else 1.0
        attempts = Attempts(task, self.writer, evaluate, self.workers, first_look)
        wave = [Draft(f"a{number:02}") for number in range(self.drafts)]
        for number in range(self.waves):
            if number and attempts.closed():
                break
            measure = self.early_stop.measure(task, evaluate) if self.early_stop else None
            outcomes = attempts.run(wave, measure)
            best = best_of(outcomes)
            if best is not None:
                attempts.keep(best)
                break
            first = outcomes[-1].number + 1
            wave = [
                revision(f"a{first + place:02}", None, failed, attempts)
                for place, failed in enumerate(outcomes)
            ]
        return attempts.response(best, End((Ended.MADE,), attempts.most()))
