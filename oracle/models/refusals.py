"""Questions that nothing answers: what is kept of one, and when there were too many in a row."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from oracle.models.errors import ModelRefuses
from oracle.models.protocol import Finish, Reply, Request

REFUSALS_IN_A_ROW = 9
"""So many questions that nothing answers end the session: three drafts, each asked three times."""


def turned_down(said: str) -> Reply:
    """What is kept of a question that a server turned down, in its words; nobody pays for it."""
    return Reply(
        "",
        Finish.BLOCKED,
        said,
        prompt_tokens=0,
        output_tokens=0,
        cost=0.0,
        turned_down=True,
    )


class Refusals:
    """Those since the last answer of one model.  For use by many threads."""

    def __init__(self, name: str) -> None:
        """Begins with none; `name` is the model's."""
        self._name = name
        self._row: list[tuple[Request, Reply]] = []
        self._lock = threading.Lock()

    def count(self, request: Request, reply: Reply) -> None:
        """Counts a refusal, or forgets those before an answer.

        Raises:
          ModelRefuses: there are too many; it says what to look at.
        """
        with self._lock:
            self._row = [*self._row, (request, reply)] if reply.refused else []
            row = self._row
        if len(row) >= REFUSALS_IN_A_ROW:
            raise ModelRefuses(_why_it_ends(self._name, row))


def _why_it_ends(name: str, row: Sequence[tuple[Request, Reply]]) -> str:
    last = row[-1][1]
    of_all = f"{name} answered none of the last {len(row)} questions"
    if _says_the_same_to_all(row):
        return (
            f"{of_all}, and its server turned all of them down in the same words: {last.detail}.  "
            "So that is hardly about what they ask: look at the options (--temperature, "
            "--max-output-tokens, --thinking), at the server's own settings and at what it logs, "
            "then resume, which asks them once more and goes on with others; or ask another model"
        )
    failure = last.failure
    reason = last.detail if last.turned_down or failure is None else failure.reason
    return f"{of_all}; of the last one: {reason}.  Resume to try others, or ask another model"


def _says_the_same_to_all(row: Sequence[tuple[Request, Reply]]) -> bool:
    """Whether different questions were turned down in one and the same words."""
    different = len({request.digest for request, _ in row}) == len(row)
    return (
        different
        and all(reply.turned_down for _, reply in row)
        and len({_gist(reply.detail) for _, reply in row}) == 1
    )


def _gist(said: str) -> str:
    """Words without what differs each time they are said: numbers, and names of requests."""
    return re.sub(r"\S*\d\S*", "", said)
