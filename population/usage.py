"""What a run's model calls came to, from its journal."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.models.budget import NOTHING, Spent
from oracle.models.journal import SqliteJournal


@dataclass(frozen=True, slots=True)
class Usage:
    """Model calls by iteration.

    Attributes:
      by_task: what each task ("k03") took; descriptions of opponents stand under "describe".
      total: of all calls.
    """

    by_task: dict[str, Spent]
    total: Spent


def usage_of(journal: SqliteJournal) -> Usage:
    """Adds up a run's calls.  A cost that is unknown stays unknown (`Spent.cost` is None)."""
    by_task: dict[str, Spent] = {}
    for call in journal.calls():
        task = _task(call.request.key)
        by_task[task] = by_task.get(task, NOTHING).after(call.reply)
    for key, counts in journal.lost():
        by_task[_task(key)] = by_task.get(_task(key), NOTHING).after_lost(counts)
    return Usage(by_task, sum(by_task.values(), NOTHING))


def _task(key: str) -> str:
    return key.partition("/")[0]
