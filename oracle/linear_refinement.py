"""LinearRefinement: improve one program while it loses (paper, Algorithm 1 and section 2.4.2)."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.attempts import Attempts, Measure, renamed, revision
from oracle.drafts import Draft, Writer
from oracle.early_stop import EarlyStop
from oracle.end import End, Ended
from oracle.ending import Ending
from oracle.outcome import Outcome, best_of
from oracle.values import Evaluate, Response, Task


@dataclass(frozen=True, slots=True)
class LinearRefinement:
    """One thread of revisions, each made from the best program so far.

    A losing program (u < 0) triggers refinement; a revision replaces the program only if it
    scores higher; it ends when the program does not lose any more (u >= 0) or after M revisions.
    A draft that cannot be scored counts as a revision and its reason is fed back.

    Where hidden opponents have a part in the score, not to lose is no end: most programs win from
    these, and the point of them is to choose the best.

    Attributes:
      writer: writes the programs.
      refinements: M, revisions at most.
      width: drafts written for each step, of which the best counts; 1 in the paper.  A writer
        that costs nothing may as well offer several, which are scored together.
      workers: drafts that are written at the same time.
      early_stop: whether, and how, drafts that cannot be better than the program so far, or than
        another of their step, are played less.
      ending: when refinement of a losing program ends before that, because no program returns
        more: at once where that is exact, after a step of nothing but noise where it is an
        estimate.  None for never.
    """

    writer: Writer
    refinements: int = 10
    width: int = 1
    workers: int = 1
    early_stop: EarlyStop | None = None
    ending: Ending | None = None
    name: str = "linear"

    def __post_init__(self) -> None:
        for field, least in (("refinements", 0), ("width", 1), ("workers", 1)):
            if getattr(self, field) < least:
                raise ValueError(f"{field} is {getattr(self, field)}; at least {least} is needed")

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`."""
        first_look = self.early_stop.first_look if self.early_stop else 1.0
        attempts = Attempts(task, self.writer, evaluate, self.workers, first_look)
        j = 0
        measure = self._measure(task, evaluate, None)
        last = attempts.run(self._drafts(Draft(_key(j))), measure)  # pi' <- oracle(prompt), u
        best = self._improved(None, last, attempts)
        quiet = False
        while not self.terminated(task, best, j) and not self._over(best, attempts, quiet=quiet):
            j += 1
            asked = revision(_key(j), best, last[0], attempts)  # update_prompt(prompt, pi', u)
            last = attempts.run(self._drafts(asked), self._measure(task, evaluate, best))
            quiet = self.ending is not None and self.ending.quiet(task, best, last)
            best = self._improved(best, last, attempts)
        return attempts.response(best, self._end(task, best, j, attempts))

    def terminated(self, task: Task, best: Outcome | None, j: int) -> bool:
        """Whether refinement ends after j revisions: M are spent, or the program does not lose."""
        return j >= self.refinements or _good_enough(task, best)

    def _end(self, task: Task, best: Outcome | None, j: int, attempts: Attempts) -> End:
        """Why refinement ended after j revisions."""
        most = attempts.most()
        if _good_enough(task, best):
            return End((Ended.BEATS,), most)
        return End((Ended.MADE if j >= self.refinements else Ended.REACHED,), most)

    def _over(self, best: Outcome | None, attempts: Attempts, *, quiet: bool) -> bool:
        """Whether the best returns the most that can be had.

        Noise alone is no reason: a step is a draft or two, of which the next may gain.
        """
        if self.ending is None:
            return False
        return self.ending.reached(best, attempts.ceiling(), quiet=quiet)

    def _drafts(self, draft: Draft) -> list[Draft]:
        """The step's request, as often as the step is wide."""
        return [
            draft if place == 0 else renamed(draft, f"{draft.key}w{place}")
            for place in range(self.width)
        ]

    def _measure(self, task: Task, evaluate: Evaluate, best: Outcome | None) -> Measure | None:
        """How a step's drafts are scored; None for in full."""
        if self.early_stop is None:
            return None
        return self.early_stop.measure(task, evaluate, best.score if best else None)

    def _improved(
        self, best: Outcome | None, outcomes: tuple[Outcome, ...], attempts: Attempts
    ) -> Outcome | None:
        """The best of a step if it scores higher than the program so far, else that program."""
        found = best_of(outcomes)
        if found is None or found.score is None:
            return best
        if best is not None and (found.score.stopped or found.u <= best.u):
            return best
        attempts.keep(found)
        return found


def _good_enough(task: Task, best: Outcome | None) -> bool:
    """Whether a program does not lose, where that is an end."""
    return best is not None and best.u >= 0.0 and not task.hidden_share


def _key(j: int) -> str:
    return f"a{j:02}"
