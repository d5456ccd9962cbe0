"""Scores programs within a budget of matches: `csro exploit --budget`.

What counts is what a search asks for, whether it is played now or was stored before.  So a search
that is repeated, or that goes on after a kill, ends where it would have ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.errors import UsageFault
from oracle.attempts import digest_in
from oracle.values import Failure, Rejected, Score, Task
from population.evaluator import Evaluator

TRIAL = 2
"""Matches of a program's trial."""
_UNPLAYED = Failure(
    Rejected.UNPLAYED, "its matches would have been more than the search may have played"
)


class Rationed:
    """An `oracle.values.Evaluate` that plays no more matches than its budget.

    A program that does not fit any more keeps the score of what it played before; a new one is a
    failure.  Those that were scored are served first, the best of them before the others.

    Attributes:
      budget: matches in all, those of trials included.
      used: of these, so far.
      insight: as of whoever scores.
    """

    def __init__(self, evaluate: Evaluator, task: Task, budget: int) -> None:
        """Begins with nothing used.

        Args:
          evaluate: scores.
          task: whose opponents are met.
          budget: matches in all.

        Raises:
          UsageFault: it is not enough to score one program.
        """
        least = TRIAL + evaluate.needs()
        if budget < least:
            raise UsageFault(
                f"{budget} matches are too few to score one program, which takes {least}: "
                f"{TRIAL} of its trial, and {least - TRIAL} that its score is made of; give that "
                "or more, or let fewer make a score (--evaluation-matches)"
            )
        self.budget, self.used = budget, 0
        self.insight, self.ration = evaluate.insight, self
        self._evaluate = evaluate
        self._task = task
        self._results: dict[str, Score | Failure] = {}
        self._played: dict[str, int] = {}
        self._exceeded = False
        self._cheapest = least

    @property
    def exceeded(self) -> bool:
        """See `oracle.rations.Ration`."""
        return self._exceeded

    def closed(self) -> bool:
        """See `oracle.rations.Ration`."""
        self._exceeded = self._exceeded or self.used + self._cheapest > self.budget
        return self._exceeded

    def __call__(
        self, sources: Sequence[str], *, effort: float = 1.0
    ) -> tuple[Score | Failure, ...]:
        """See `oracle.values.Evaluate`."""
        matches = self._evaluate.needs(effort)
        open_ones = [one for one in dict.fromkeys(sources) if not self._failed(one)]
        waiting = sorted(open_ones, key=lambda one: self._place(one, matches))
        while waiting:
            fitting = self._fitting(waiting, matches)
            if not fitting:
                self._exceeded = True
                break
            results = self._evaluate(fitting, effort=effort)
            for source, result in zip(fitting, results, strict=True):
                self._count(source, result, matches)
            waiting = waiting[len(fitting) :]
        return tuple(self._results.get(source, _UNPLAYED) for source in sources)

    def _place(self, source: str, matches: int) -> tuple[bool, float]:
        """What costs nothing comes first, then what was scored by its return, then the rest."""
        known = self._results.get(source)
        rank = -known.u if isinstance(known, Score) else float("inf")
        return self._cost(source, matches) > 0, rank

    def _fitting(self, waiting: Sequence[str], matches: int) -> list[str]:
        """The first ones that fit, whatever comes of them; many may cost less than they could."""
        left, found = self.budget - self.used, []
        for source in waiting:
            left -= self._cost(source, matches)
            if left < 0:
                break
            found.append(source)
        return found

    def _cost(self, source: str, matches: int) -> int:
        """What a program's score by so many matches takes at most."""
        if self._is_opponent(source):
            return 0
        played = self._played.get(source)
        return TRIAL + matches if played is None else max(0, matches - played)

    def _count(self, source: str, result: Score | Failure, matches: int) -> None:
        """Notes what came of a program, and what that took."""
        fresh = source not in self._results
        self._results[source] = result
        if self._is_opponent(source):
            return
        if fresh:
            self._cheapest = min(self._cheapest, TRIAL + matches)
            refused = isinstance(result, Failure) and result.kind is not Rejected.FAULTY
            self.used += 0 if refused else TRIAL
        if self._evaluate.digest(source):  # it passed its trial
            played = self._played.get(source, 0)
            self.used += max(0, matches - played)
            self._played[source] = max(matches, played)

    def _failed(self, source: str) -> bool:
        """Whether it was found to be no candidate; more matches would not make it one."""
        return isinstance(self._results.get(source), Failure)

    def _is_opponent(self, source: str) -> bool:
        """Whether it is the very program that is to be beaten, which needs no match."""
        digest = digest_in(self._task, source)
        return any(one.digest == digest for one in self._task.opponents)
