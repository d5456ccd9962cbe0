"""Lets several models learn within a search whose drafts are worth keeping.

A draft is told what was tried before it (`oracle.insight.Told`): on its own island of
`alpha-evolve`, or in the revisions and waves before its own.  That does not depend on which call is
answered first, so neither does what a team makes of it: a search that goes on asks whom it would
have asked.  Drafts that begin together know nothing of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from oracle.drafts import Draft, Writer
from oracle.insight import INCUMBENT, Told
from oracle.models.team import Team
from oracle.values import Task


@dataclass(frozen=True, slots=True)
class TeamWriter:
    """A writer that asks a team.

    Attributes:
      writer: asks.
      team: is told, before each draft, what became of those before it.
    """

    writer: Writer
    team: Team

    @property
    def name(self) -> str:
        """That of the writer."""
        return self.writer.name

    def write(self, task: Task, draft: Draft) -> Draft:
        """See `oracle.drafts.Writer`."""
        if draft.told is not None:
            self.team.learn(task.key, draft.key, kept_of(draft.told))
        return self.writer.write(task, draft)


def kept_of(told: Told) -> dict[str, bool]:
    """Whether each draft before became the best when it was tried, by its key.

    What a race gave up did not, however lucky the few matches that it played.
    """
    best, found = -math.inf, {}
    for one in told.tried:
        u = -math.inf if one.score is None or one.score.stopped else one.score.u
        if one.key != INCUMBENT:
            found[one.key] = u > best
        best = max(best, u)
    return found
