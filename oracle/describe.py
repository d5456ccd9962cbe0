"""Descriptions of opponents in words: the paper's context abstraction (section 2.4.1).

A second call to the model says what a program does.  It is asked under a key made of the program's
digest, so the journal of a run answers whenever the same program is met again.  A description that
quotes the program's code is asked for once more, and what is still quoted then is cut out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from arena.contract import AuthorContract
from arena.games.protocol import Game
from oracle.models.errors import PromptRefused
from oracle.models.protocol import Finish, Model, Reply, Request
from oracle.prompts import fill
from oracle.quotations import CUT, leaks, without_quotations
from oracle.relatives import clipped, fenced
from oracle.values import Failure, Opponent, Rejected

_MOST_PASSAGES = 40
"""Quoted passages that are shown to whoever quoted them."""
_MOST_OBJECTS = 20
"""Places of a reply where an object is looked for."""
_LAX = json.JSONDecoder(strict=False)
_LONGEST_PASSAGE = 400
"""Characters of one of them."""


@dataclass(frozen=True, slots=True)
class Description:
    """How a program plays, in words; the fields are those of the prompt."""

    idea: str
    observes: str
    predicts: str
    chooses: str
    randomness: str
    weaknesses: str

    @property
    def text(self) -> str:
        """As a list for a prompt."""
        return "\n".join(
            f"- {name.capitalize()}: {' '.join(getattr(self, name).split())}" for name in FIELDS
        )


FIELDS = tuple(field.name for field in fields(Description))
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in FIELDS},
    "required": list(FIELDS),
}
"""JSON schema of the structured reply."""


def describe(
    model: Model,
    game: Game,
    opponent: Opponent,
    *,
    max_output_tokens: int | None = None,
    thinking: str | None = None,
) -> Description | Failure:
    """Describes an opponent's program, in at most two calls.

    What is returned quotes nothing of the program's code that `oracle.quotations.leaks` finds.

    Returns:
      The description, or why the model gave none.

    Raises:
      ModelError, BudgetSpent: as `Model.generate`.
    """
    request = description_request(game, opponent, max_output_tokens, thinking)
    found = _asked(model, request)
    if isinstance(found, Description):
        quoted = leaks(found.text, opponent.source, game.contract)
        if not quoted:
            return found
        more = fill("leaked", passages=_passages(quoted))
    elif found.kind is Rejected.TOO_LONG:
        return found
    else:
        more = fill("repair", kind="it is no such object", reason=found.reason, reply="")
    again = replace(request, key=f"{request.key}/again", prompt=f"{request.prompt}\n{more}\n")
    second = _asked(model, again)
    last = second if isinstance(second, Description) else found
    if isinstance(last, Failure):
        return second
    return without_code(last, opponent.source, game.contract)


def _passages(quoted: Sequence[str]) -> str:
    """What was quoted, as a list; of very much the first, so that the question keeps its bound."""
    lines = [f"- {fenced(clipped(line, _LONGEST_PASSAGE))}" for line in quoted[:_MOST_PASSAGES]]
    rest = len(quoted) - len(lines)
    return "\n".join([*lines, f"- {rest} more"] if rest else lines)


def _asked(model: Model, request: Request) -> Description | Failure:
    """What the model says; a question that its server turns down is a failure like any other."""
    try:
        return parse_description(model.generate(request))
    except PromptRefused as error:
        return parse_description(Reply("", Finish.BLOCKED, str(error)))


def description_request(
    game: Game,
    opponent: Opponent,
    max_output_tokens: int | None = None,
    thinking: str | None = None,
) -> Request:
    """The first question about a program; equal programs give equal requests."""
    prompt = fill("describe", rules=game.rules, program=fenced(opponent.source))
    return Request(
        key=f"describe/{opponent.digest}",
        prompt=f"{prompt}\n",
        system=fill("describe_role"),
        max_output_tokens=max_output_tokens,
        schema=SCHEMA,
        thinking=thinking,
    )


def parse_description(reply: Reply) -> Description | Failure:
    """Reads the structured reply; also one that a server without schemas put into a fence."""
    if reply.failure is not None:
        return reply.failure
    documents = _objects(reply.text)
    if not documents:
        kind = Rejected.TRUNCATED if reply.cut_off else Rejected.NO_CODE
        return Failure(kind, "the reply is not a JSON object")
    read = [{name: _words(one.get(name)) for name in FIELDS} for one in documents]
    told = [{name: text for name, text in one.items() if text is not None} for one in read]
    best = max(reversed(told), key=len)
    if len(best) < len(FIELDS):
        wrong = ", ".join(name for name in FIELDS if name not in best)
        return Failure(Rejected.NO_CODE, f"these texts are missing: {wrong}")
    return Description(**best)


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a reply in order, each before the one that is all it holds.

    Words may stand around them, and line ends in their texts.  Keys are brought to lower case.
    """
    found: list[dict[str, Any]] = []
    at = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            break
        try:
            document, end = _LAX.raw_decode(text, at)
        except (ValueError, RecursionError):
            document, end = {}, at + 1
        while isinstance(document, dict) and document:
            found.append({str(name).lower(): value for name, value in document.items()})
            document = next(iter(document.values())) if len(document) == 1 else None
        at = text.find("{", end)
    return found


def _words(value: object) -> str | None:
    """A text, or several in a list; None for anything else."""
    given = value if isinstance(value, list) else [value]
    texts = [one.strip() for one in given if isinstance(one, str)]
    return "; ".join(filter(None, texts)) if len(texts) == len(given) else None


def without_code(
    description: Description, source: str, contract: AuthorContract | None = None
) -> Description:
    """The description with every passage cut out that quotes the program's code."""
    values = (" ".join(getattr(description, name).split()) for name in FIELDS)
    cleaned = Description(*(without_quotations(value, source, contract) for value in values))
    if leaks(cleaned.text, source, contract):  # over two fields: nothing of either can stay
        return Description(*(CUT for _ in FIELDS))
    return cleaned
