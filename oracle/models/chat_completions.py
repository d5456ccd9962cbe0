"""OpenAI's chat completions as documents: what an answer says, and what a refusal means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from oracle.models import refusal_words as words
from oracle.models.error_body import fields_of, layers_of, words_of
from oracle.models.protocol import Finish, Reply, valid_text
from oracle.models.reasoning import answer_in
from oracle.models.usage import believed, counts_in

OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens", "max_output_tokens"),
    "max_completion_tokens": ("max_completion_tokens", "max_output_tokens"),
    "response_format": (
        "response_format",
        "json_schema",
        "structured output",
        "structured outputs",
        "structured_outputs",
        "json mode",
        "parse grammar",
    ),
    "reasoning_effort": (
        "reasoning_effort",
        "reasoning.effort",
        "reasoning effort",
        "reasoning value",
        "reasoning is mandatory",
        "think value",
        "thinking",
    ),
    "stream_options": ("stream_options", "include_usage"),
}
"""Fields that a question can do without, and the words by which servers name them."""
REFUSES = frozenset({400, 413, 422})
"""HTTP statuses of a server that takes key and model, but not the question as it stands."""
_MISTAKEN = frozenset({0, 500, 501})
"""Statuses with which some refuse a field: they count where the words say so plainly.  0 is that of
an error in an answer of status 200."""
SYSTEM_REFUSED = "takes no system message, put before the question instead"
_LOOKED_AT = 1_000
"""Characters of an error that are looked at: some repeat the prompt."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's refusal, as far as it can be understood.

    Attributes:
      status: of HTTP.
      code: the server's word for it, "" for none.
      kind: its class of errors, "" for none.
      fields: of the question that it names by themselves.
      message: in its words.
      context: tokens of its context, where it says so in a field.
    """

    status: int
    code: str
    kind: str
    fields: tuple[str, ...]
    message: str
    context: int | None

    @property
    def too_long(self) -> bool:
        """Whether the prompt is longer than the server's context."""
        if self.status == 413 or {self.code, self.kind} & words.TOO_LONG_CODES:
            return True
        if self.status == 429:
            return bool(words.TOO_MUCH_AT_ONCE.search(self.message))
        known = words.SURELY_TOO_LONG if 500 <= self.status <= 599 else words.TOO_LONG
        return (self.status in {*REFUSES, 0} or self.status >= 500) and bool(
            known.search(self.message)
        )

    @property
    def limit(self) -> int | None:
        """Tokens of the context, prompt and answer together; None where it does not say."""
        return words.limit_in(self.message) if self.context is None else self.context

    def room(self, prompt: int) -> int | None:
        """Tokens of an answer for which there would be room beside the whole prompt.

        None where the prompt alone would not fit, or that is not said: it is too long itself.

        Args:
          prompt: tokens that the prompt has at most, for a server that counts them in part.
        """
        read, limit = words.prompt_tokens_in(self.message), self.limit
        if read is None and words.says_at_least(self.message):
            read = prompt
        return None if read is None or limit is None or read >= limit else limit - read

    @property
    def no_credit(self) -> bool:
        """Whether the account has nothing left to pay with."""
        return words.no_credit(self.status, self.code, self.kind, self.message)

    @property
    def of_system(self) -> bool:
        """Whether the model takes no system message; some servers call that a fault of theirs."""
        return self.status in {*REFUSES, 0, 500} and bool(words.NO_SYSTEM.search(self.message))

    @property
    def of_whole(self) -> bool:
        """Whether the server answers in pieces alone, and was asked for a whole answer."""
        return self.status in {*REFUSES, 0} and bool(words.STREAM_ONLY.search(self.message))

    @property
    def of_key(self) -> bool:
        """Whether it is the key that is refused; some call that a bad request, as Google does."""
        return self.status in {0, 400, 401, 403} and bool(words.KEY_REFUSED.search(self.message))

    @property
    def of_looking(self) -> bool:
        """Whether it is the look at models that is refused, to a key that may well ask one."""
        return bool(words.MAY_NOT_LOOK.search(self.message))

    @property
    def of_model(self) -> bool:
        """Whether the server says that it has no such model."""
        if self.status == 404:
            return True
        said = f"{self.code} {self.message}"
        return self.status in {*REFUSES, 0} and bool(words.NO_MODEL.search(said))

    @property
    def by_policy(self) -> bool:
        """Whether the question was refused for what it is about."""
        if self.code.lower() in words.POLICY_CODES or self.kind.lower() in words.POLICY_CODES:
            return True
        return self.status in {0, 400, 403, 422} and bool(words.POLICY.search(self.message))

    def of(self, asked: Collection[str]) -> tuple[str, ...]:
        """Fields that were sent, that the refusal names, and that the question can do without."""
        if self.status not in REFUSES and not (
            self.status in _MISTAKEN and words.UNKNOWN.search(self.message)
        ):
            return ()
        optional = [name for name in OPTIONAL if name in asked]
        fields = set(map(words.snake, self.fields))
        named = tuple(name for name in optional if name in fields)
        said = words.snake(self.message)
        return named or tuple(name for name in optional if _names(said, OPTIONAL[name]))


def _names(message: str, names: tuple[str, ...]) -> bool:
    """Whether a message in small letters names any of these."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in names)


def read_refusal(status: int, body: object, message: str) -> Refusal:
    """A refusal from an error's body, which may be anything at all.

    Args:
      status: of HTTP.
      body: the JSON document, or the `error` in it, where there is one.
      message: what is said where the body says nothing.
    """
    layers = layers_of(body)
    inwards = layers[::-1]
    said = next(filter(None, map(words_of, inwards)), message)
    contexts = (layer.get("n_ctx") for layer in inwards)
    return Refusal(
        status=status,
        code=_innermost(inwards, "code"),
        kind=_innermost(inwards, "type"),
        fields=tuple(field for layer in layers for field in fields_of(layer)),
        message=said[:_LOOKED_AT],
        context=next((one for one in contexts if type(one) is int and one > 0), None),
    )


def _innermost(layers: Iterable[Mapping[str, Any]], name: str) -> str:
    return next(filter(None, (word_of(layer.get(name)) for layer in layers)), "")


def word_of(value: object) -> str:
    """A server's word; "" for anything else."""
    return value if isinstance(value, str) else ""


def read_answer(answer: Any) -> Reply:
    """A chat completion as a reply without its cost; reasoning is not in its text.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise ValueError("it is no chat completion")
    reply = counted(answer)
    if not answer["choices"]:
        return reply
    choice = answer["choices"][0]
    message = _message_of(choice)
    written, (finish, reason) = text_of(message.get("content")), finish_of(choice)
    text = answer_in(written)
    thought = bool(written.strip()) or any(message.get(name) for name in REASONING)
    reply = believed(reply, wrote=thought)
    if message.get("refusal"):
        return replace(reply, text=text, finish=Finish.BLOCKED, detail="refusal")
    detail = f"{reason}, only reasoning" if thought and not text.strip() else reason
    return replace(reply, text=text, finish=finish, detail=detail)


def _message_of(choice: object) -> Mapping[str, Any]:
    """The message of a choice; some send its text beside it, as in the older protocol of texts.

    Raises:
      ValueError: it has neither.
    """
    known = choice if isinstance(choice, Mapping) else {}
    message, text = known.get("message"), known.get("text")
    parts = message if isinstance(message, Mapping) else None
    if isinstance(text, str) and not (parts and parts.get("content")):
        return {**(parts or {}), "content": text}
    if parts is None:
        raise ValueError("its first choice has no message")
    return parts


def counted(answer: Mapping[str, Any]) -> Reply:
    """Who answered, and what for how many tokens; no text."""
    counts = counts_in(answer.get("usage"))
    return replace(counts, model=word_of(answer.get("model")), origin=word_of(answer.get("id")))


def finish_of(choice: Mapping[str, Any]) -> tuple[Finish, str]:
    """Why a choice ends, and the server's word for it."""
    reason = word_of(choice.get("finish_reason"))
    said = reason.lower()
    if said.startswith("content_filter") or said == "sensitive":
        return Finish.BLOCKED, reason
    return Finish.CUT_OFF if said in _CUT_OFF else Finish.STOPPED, reason


_CUT_OFF = frozenset({"length", "model_length", "max_tokens", "model_context_window_exceeded"})

REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
"""Where servers put what a model thought; never read as an answer."""


def text_of(content: object) -> str:
    """The text of a message; of one in parts, those that are text."""
    parts = content if isinstance(content, list) else [content]
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and (part.get("type") or "text") in ("text", "output_text")
    ]
    return valid_text("".join(text for text in texts or parts if isinstance(text, str)))


def names_in(listing: Any) -> list[str]:
    """Names in a list of models, with those that they go by as well; none where it is no list."""
    rows = listing.get("data") if isinstance(listing, Mapping) else None
    found: list[object] = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping):
            aliases = row.get("aliases")
            found += [row.get("id"), row.get("canonical_slug")]
            found += aliases if isinstance(aliases, list) else []
    return [name for name in found if isinstance(name, str)]


def among(name: str, listed: Collection[str]) -> bool:
    """Whether a server that lists these models surely has this one, too."""
    # Gateways take a variant behind a name ("model:free"), and settings ("@preset/mine").
    names = {name, name.rpartition(":")[0]} - {""}
    known = name.startswith("@") or not names.isdisjoint(listed)
    return known or any("*" in one for one in listed)
