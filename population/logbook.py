"""What stands around Algorithm 1: a run's resumption, its account of time, and who watches it.

An iteration that is stored is read instead of worked through again.  One that was interrupted is
worked through from its beginning, and finds its candidates, its matches and its model's replies
where they were stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from oracle.end import End
from oracle.models.errors import BudgetSpent, ModelError
from oracle.values import Attempt, Score
from population.matches import Matches
from population.members import Member
from population.records import Effort, Iteration, RunState, Sigma
from population.runs import Runs


class Watcher(Protocol):
    """Told how a run goes on."""

    def begins(self, k: int, iterations: int) -> None:
        """Iteration k of K begins; k = K + 1 is the last payoff table."""
        ...

    def ends(self, iteration: Iteration) -> None:
        """An iteration was stored."""
        ...


class Silent:
    """Watches a run and tells nobody."""

    def begins(self, k: int, iterations: int) -> None:
        """See `Watcher`."""

    def ends(self, iteration: Iteration) -> None:
        """See `Watcher`."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the lines of the loop's body come to.

    Attributes:
      sigma: what was to be beaten.
      digest: of the policy that joins; "" where the oracle found none.
      score: of that policy against sigma; None where none joins.
      attempts: everything that the oracle tried, in order.
      end: why it tried no more; None where it does not say.
    """

    sigma: Sigma
    digest: str
    score: Score | None
    attempts: tuple[Attempt, ...]
    end: End | None = None


Step = Callable[[int, Sequence[Member]], Found]
"""The body of Algorithm 1's loop: from k and P to what joins P."""


class Logbook:
    """The account of one run: what it did before, and what it does now."""

    def __init__(
        self, name: str, iterations: int, runs: Runs, matches: Matches, watcher: Watcher
    ) -> None:
        """Opens the account.

        Args:
          name: of the run, which was started.
          iterations: K.
          runs: where finished iterations are kept.
          matches: plays; it knows what playing took.
          watcher: told how it goes on.
        """
        self._name = name
        self._iterations = iterations
        self._runs = runs
        self._spent = matches.spent
        self._watcher = watcher
        self._stored = {iteration.k: iteration for iteration in runs.iterations(name)}
        self.began = runs.get(name).initial
        """Digest of pi_initial, where the run got so far before; else ""."""
        self._thought = 0.0

    def begin(self, initial: Member) -> None:
        """Notes pi_initial."""
        self._runs.begin(self._name, initial.digest)

    def before(self, k: int) -> tuple[Iteration, ...]:
        """The iterations before k, in order."""
        return tuple(self._stored[one] for one in sorted(self._stored) if one < k)

    def once(self, k: int, step: Step, members: Sequence[Member]) -> Iteration:
        """Iteration k as it is stored; where it is not, the step is taken, timed and stored."""
        if k not in self._stored:
            self._watcher.begins(k, self._iterations)
            iteration = self._timed(k, step, members)
            self._runs.add(self._name, iteration)
            self._stored[k] = iteration
            self._watcher.ends(iteration)
        return self._stored[k]

    def last_table(self) -> None:
        """Says that all K iterations are done, and only the last payoff table is wanted."""
        self._watcher.begins(self._iterations + 1, self._iterations)

    def finish(self, sigma: Sigma, mixture: str) -> None:
        """Notes the result: sigma, and the digest under which it is registered."""
        self._runs.finish(self._name, sigma, mixture)

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """Counts what happens meanwhile as the oracle's time, but for its matches."""
        started, played = time.perf_counter(), self._spent.seconds
        try:
            yield
        finally:
            self._thought = time.perf_counter() - started - (self._spent.seconds - played)

    def _timed(self, k: int, step: Step, members: Sequence[Member]) -> Iteration:
        started, spent = time.perf_counter(), self._spent
        seconds, matches, trials = spent.seconds, spent.matches, spent.trials
        found = step(k, members)
        effort = Effort(
            seconds=round(time.perf_counter() - started, 3),
            match_seconds=round(spent.seconds - seconds, 3),
            oracle_seconds=round(self._thought, 3),
            matches=spent.matches - matches,
            trials=spent.trials - trials,
        )
        u, stderr = (found.score.u, found.score.stderr) if found.score else (None, None)
        against = found.score.against if found.score else ()
        end = found.end
        return Iteration(
            k, found.sigma, found.digest, u, stderr, found.attempts, effort, end, against
        )


@contextmanager
def at_work(runs: Runs, name: str) -> Iterator[None]:
    """Keeps others from working on a run meanwhile, and its state up to date.

    Raises:
      RunBusy: another process works on it.
    """
    with runs.working_on(name):
        runs.note(name, RunState.UNFINISHED)
        try:
            yield
        except (BudgetSpent, ModelError) as stop:
            runs.note(name, RunState.STOPPED, str(stop))
            raise
