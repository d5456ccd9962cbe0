"""The grammar as a writer: what lets every oracle variant work without a language model."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from oracle.drafts import Draft
from oracle.grammar.search import GrammarOracle, Question, Scored
from oracle.values import Score, Task


@dataclass(frozen=True, slots=True)
class GrammarWriter:
    """Writes programs of the grammar; each says in its docstring and footer what made it.

    Attributes:
      oracle: the grammar's search.
    """

    oracle: GrammarOracle = field(default_factory=GrammarOracle)

    @property
    def name(self) -> str:
        """As it is written in the place of a model: a value of `oracle.grammar.starts.Start`."""
        return self.oracle.start.value

    def write(self, task: Task, draft: Draft) -> Draft:
        """Proposes a program, or refines the draft's one where that was scored.

        Raises:
          UnknownGame: there is no grammar for the task's game.
        """
        question = Question(
            game=task.game.name,
            opponents=tuple((one.source, one.weight) for one in task.opponents),
            seed=task.seed,
            names=tuple(one.ref for one in task.opponents),
            task=task.key,
            others=tuple((one.source, one.ref) for one in task.others),
        )
        attempt = attempt_of(draft.key)
        if draft.source and draft.score is not None:
            current = _scored(task, draft.source, draft.score)
            tried = [_scored(task, source, score) for source, score in draft.inspirations]
            source = self.oracle.refine(question, current, tried, attempt)
        else:
            source = self.oracle.propose(question, attempt)
        return Draft(draft.key, source=source)


def attempt_of(key: str) -> int:
    """Number of an attempt for the grammar: 0 for a task's first draft, else by its key."""
    digits = [character for character in key if character.isdigit()]
    return 0 if set(digits) == {"0"} else 1 + zlib.crc32(key.encode())


def _scored(task: Task, source: str, score: Score) -> Scored:
    """A scored program with its returns in the order of the task's opponents."""
    means = {one.digest: one.mean for one in score.against}
    returns = tuple(means[one.digest] for one in task.opponents)
    return Scored(source, returns, score.stderr, score.u if task.hidden else None)
