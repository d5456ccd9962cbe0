"""Progress bars on stderr while a run works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from arena.cli.session import notice, terminal
from arena.games import game as game_named
from oracle.end import End
from oracle.values import Attempt
from population import u_intervals
from population.records import Iteration, RunRecord
from registry.display import shown

_LONGEST_REASON = 200


class Bars:
    """A bar of iterations and one of the matches at hand; a line for each iteration.

    Where networks are trained there is one more, of the decisions of the training at hand.
    """

    def __init__(self, progress: Progress, record: RunRecord) -> None:
        self._progress, self._config = progress, record.config
        self._run = progress.add_task(record.name, total=record.config.iterations)
        self._matches = progress.add_task("matches", total=None)
        self._training: TaskID | None = None

    def begins(self, k: int, iterations: int) -> None:
        """See `population.logbook.Watcher`."""
        self._progress.update(self._run, completed=k - 1, total=iterations)

    def ends(self, iteration: Iteration) -> None:
        """See `population.logbook.Watcher`."""
        failed = sum(attempt.failure is not None for attempt in iteration.attempts)
        u = u_intervals.of_iteration(iteration, self._config, game_named(self._config.game))
        found = nothing_joins(iteration.attempts) if u is None else f"u = {u_intervals.told(u)}"
        remark = u_intervals.remark(iteration)
        found += f" ({remark})" if remark else ""
        notice(
            f"k = {iteration.k:>2}  {found}  attempts {len(iteration.attempts)}, "
            f"rejected {failed}{_told(iteration.end)}, {iteration.effort.seconds:.1f} s"
        )
        self._progress.update(self._run, completed=iteration.k)

    def plays(self, done: int, wanted: int) -> None:
        """Shows how a request for matches goes on."""
        self._progress.update(self._matches, completed=done, total=wanted)

    def learns(self, done: int, wanted: int) -> None:
        """Shows how the training of a network goes on, in decisions."""
        if self._training is None:
            self._training = self._progress.add_task("decisions", total=wanted)
        self._progress.update(self._training, completed=done, total=wanted)


def _told(end: End | None) -> str:
    """Why the search ended, and the most that could be had, where that tells something."""
    if end is None:
        return ""
    said = [f"ended: {end.why}"] if not end.usual else []
    said += [end.bound] if end.bound else []
    return "".join(f", {one}" for one in said)


def nothing_joins(attempts: Sequence[Attempt]) -> str:
    """That no policy joins, and why the last attempt was none, on one line."""
    failures = [attempt.failure for attempt in attempts if attempt.failure is not None]
    if not failures:
        return "nothing joins"
    reason = shown(" ".join(failures[-1].reason.split()))
    if len(reason) > _LONGEST_REASON:
        reason = f"{reason[:_LONGEST_REASON]}..."
    return f"nothing joins ({failures[-1].kind.value}: {reason})"


@contextmanager
def bars(record: RunRecord) -> Iterator[Bars]:
    """Progress bars on stderr while a run works."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=True) as progress:
        yield Bars(progress, record)
