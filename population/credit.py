"""Which of a run's models wrote what was kept in iterations before: from record and journal.

What an iteration itself shows is learned while it goes on (`oracle.team_writer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from oracle.models.journal import SqliteJournal
from oracle.models.team import Standing
from population.members import label_of
from population.runs import Runs


def standings_of(
    runs: Runs, name: str, journal: SqliteJournal, task: str
) -> Mapping[str, Standing]:
    """What came of each model's drafts in the iterations before one.

    Args:
      runs: has the run's attempts.
      name: of the run.
      journal: of its model calls.
      task: the iteration's label, "k03".

    Returns:
      By the name of the model.
    """
    authors = journal.authors()
    tried: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for iteration in runs.iterations(name):
        if label_of(iteration.k) == task:
            break
        for attempt in iteration.attempts:
            if attempt.call in authors:
                tried[authors[attempt.call]] += 1
                kept[authors[attempt.call]] += attempt.kept
    return {model: Standing(number, kept[model]) for model, number in tried.items()}
