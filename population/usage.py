"""What a run's model calls came to, from its journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oracle.models.budget import Spent
from oracle.models.journal import Call


@dataclass(frozen=True, slots=True)
class Usage:
    """Model calls by iteration.

    Attributes:
      by_task: what each task ("k03") took; descriptions of opponents stand under "describe".
      total: of all calls.
    """

    by_task: dict[str, Spent]
    total: Spent


def usage_of(calls: Iterable[Call]) -> Usage:
    """Adds up calls.  A cost that is unknown stays unknown (`Spent.cost` is None)."""
    replies: dict[str, list[Call]] = {}
    for call in calls:
        replies.setdefault(call.request.key.partition("/")[0], []).append(call)
    return Usage(
        {task: Spent.on(one.reply for one in group) for task, group in replies.items()},
        Spent.on(one.reply for group in replies.values() for one in group),
    )
