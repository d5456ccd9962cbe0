"""What a writer is asked for and what it answers: a draft, from which a task's attempt begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from oracle.insight import Told
from oracle.values import Failure, Score, Task


@dataclass(frozen=True, slots=True)
class Draft:
    """What a writer starts from and what it returns.

    A failure with a score: the program so far is sound, the attempt to change it was not.  A
    failure without one: the program so far is what failed.

    Attributes:
      key: names this draft within the task ("a02", "i1g03d0"); equal keys give equal drafts.  A
        key whose digits are all 0 names the task's first draft.
      source: the program so far ("" for a fresh one); in the answer, the program written.
      score: what the program so far scored, None where it was not scored.
      failure: why the previous attempt was no candidate, to be fed back; in the answer, why
        this one is none.
      inspirations: other programs with their scores, best first; a writer may use only some.
      edit: whether edits (SEARCH/REPLACE) are wanted rather than a full program.
      call: in the answer, key of the model call.
      asked: in the answer, digest of that call's question: searches that share a journal may have
        asked others by the same key.
      repairs: in the answer, how many malformed replies were sent back on the way.
      told: what is known beside the score; None where whoever scores tells nothing.
    """

    key: str
    source: str = ""
    score: Score | None = None
    failure: Failure | None = None
    inspirations: tuple[tuple[str, Score], ...] = ()
    edit: bool = False
    call: str = ""
    asked: str = ""
    repairs: int = 0
    told: Told | None = None


class Writer(Protocol):
    """Writes programs: a language model with its prompts, or the grammar.

    The seam that lets every oracle variant work with either.
    """

    @property
    def name(self) -> str:
        """Such as grammar or gemini:gemini-3.8-flash."""
        ...

    def write(self, task: Task, draft: Draft) -> Draft:
        """Writes the program that the draft asks for.

        May be called from several threads at once.

        Returns:
          The same draft with its program in `source`, or with a `failure` and `source` "".
        """
        ...
