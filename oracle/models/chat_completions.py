"""OpenAI's chat completions as documents: what an answer says, and what a refusal means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from oracle.models.error_body import fields_of, layers_of, words_of
from oracle.models.protocol import MOST_TOKENS, Finish, Reply, valid_text
from oracle.models.reasoning import answer_in
from oracle.models.retry import Transient

OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens",),
    "max_completion_tokens": ("max_completion_tokens",),
    "response_format": (
        "response_format",
        "json_schema",
        "structured output",
        "structured outputs",
    ),
    "reasoning_effort": ("reasoning_effort", "reasoning.effort", "reasoning effort", "thinking"),
}
"""Fields that a question can do without, and the words by which servers name them."""
REFUSES = frozenset({400, 413, 422})
"""HTTP statuses of a server that takes key and model, but not the question as it stands."""
_MISTAKEN = frozenset({0, 500, 501})
"""Statuses with which some refuse a field: they count where the words say so plainly.  0 is that of
an error in an answer of status 200."""
_UNKNOWN = re.compile(
    r"not (?:be )?(?:support|allow|permit)|n[o']t (?:support|accept|know)|unsupported|unknown|"
    r"unexpected|unrecogni[sz]ed|invalid (?:param|field|arg)",
    re.IGNORECASE,
)
_POLICY_CODES = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "data_inspection_failed",
        "invalid_prompt",
        "moderation_blocked",
        "responsibleaipolicyviolation",
    }
)
_POLICY = re.compile(
    r"usage polic|content (?:management )?polic|content[ _]filter|safety system|moderation|"
    r"inappropriate content",
    re.IGNORECASE,
)
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TOO_LONG = re.compile(
    r"maximum (?:context|prompt|model|input) length|maximum allowed (?:input )?length|"
    r"context (?:size|length|window) is only|"
    r"(?:exceeds?|exceeded|(?:longer|greater) than) (?:[\w']+ ){0,3}context|configured context|"
    r"context[ _]?(?:size|length|window)[ _]?(?:was |has been )?exceed|context (?:the )?overflow|"
    r"model token limit|input (?:token count|tokens exceed)|range of input length|"
    r"(?:prompt|input) (?:is |was )?too (?:long|large)|prompt exceeds max|too many tokens|"
    r"`inputs` (?:tokens \+|must have less)|\bn_keep\b.{0,20}n_ctx|"
    r"reduce (?:the length of )?(?:the |your )?(?:input|prompt|messages)",
    re.IGNORECASE,
)
_TOO_MUCH_AT_ONCE = re.compile(
    r"request too large|(?:input|prompt)\b.{0,40}\bmust be reduced", re.IGNORECASE
)
"""A question that has more tokens than may be sent in a minute: no waiting helps it."""
_NUMBER = r"(\d[\d,]*)"
_LIMITS = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"maximum (?:context|prompt|model) length (?:is|of) #",
        r"maximum number of tokens allowed \(?#",
        r"context (?:size|length|window) (?:is |of )?(?:only )?\(?#",
        r"# maximum context length",
        r"\bn_ctx\W{1,3}#",
        r"model token limit: ?#",
        r"maximum allowed (?:input )?length (?:is |of )?\(?#",
        r"\bmust (?:be <=|have less than) #",
        r"range of input length should be \[\d+, ?#",
        r"> # maximum",
        r"\(TPM\): Limit #",
    )
)
_NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|un)[ -]?(?:supported|allowed)|"
    r"n[o']t support '?system\b|"
    r"only (?:the )?user\b.{0,40} roles? (?:are|is) (?:supported|allowed)|"
    r"conversation roles must alternate|(?:developer|system) instruction is not enabled",
    re.IGNORECASE,
)
"""What templates of models say that know users and assistants alone: some by counting turns."""
_KEY_REFUSED = re.compile(r"\bAPI[ _]key\b", re.IGNORECASE)
SYSTEM_REFUSED = "takes no system message, put before the question instead"
_PROMPT_TOKENS = re.compile(
    rf"{_NUMBER} (?:in (?:the messages|your prompt)|of text input|(?:input|`inputs`) tokens)",
    re.IGNORECASE,
)
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
        if self.status == 413 or {self.code, self.kind} & _TOO_LONG_CODES:
            return True
        if self.status == 429:
            return bool(_TOO_MUCH_AT_ONCE.search(self.message))
        return self.status in {*REFUSES, 0} and bool(_TOO_LONG.search(self.message))

    @property
    def limit(self) -> int | None:
        """Tokens of the context, prompt and answer together; None where it does not say."""
        if self.context is not None:
            return self.context
        found = (pattern.search(self.message) for pattern in _LIMITS)
        return next((int(one[1].replace(",", "")) for one in found if one), None)

    @property
    def wants_shorter_answer(self) -> bool:
        """Whether the prompt alone would fit: it is the answer's limit that does not."""
        found = _PROMPT_TOKENS.search(self.message)
        limit = self.limit
        if found is None or limit is None:
            return False
        return int(found[1].replace(",", "")) < limit

    @property
    def of_system(self) -> bool:
        """Whether the model takes no system message; some servers call that a fault of theirs."""
        return self.status in {*REFUSES, 0, 500} and bool(_NO_SYSTEM.search(self.message))

    @property
    def of_key(self) -> bool:
        """Whether it is the key that is refused; some call that a bad request, as Google does."""
        return self.status in {400, 401, 403} and bool(_KEY_REFUSED.search(self.message))

    @property
    def by_policy(self) -> bool:
        """Whether the question was refused for what it is about."""
        if self.code.lower() in _POLICY_CODES or self.kind.lower() in _POLICY_CODES:
            return True
        return self.status in {400, 403, 422} and bool(_POLICY.search(self.message))

    def of(self, asked: Collection[str]) -> tuple[str, ...]:
        """Fields that were sent, that the refusal names, and that the question can do without."""
        if self.status not in REFUSES and not (
            self.status in _MISTAKEN and _UNKNOWN.search(self.message)
        ):
            return ()
        optional = [name for name in OPTIONAL if name in asked]
        fields = set(map(_snake, self.fields))
        named = tuple(name for name in optional if name in fields)
        said = _snake(self.message)
        return named or tuple(name for name in optional if _names(said, OPTIONAL[name]))


def _snake(text: str) -> str:
    """A text in which "reasoningEffort" is called "reasoning_effort", as in a question."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", text).lower()


def _names(message: str, words: tuple[str, ...]) -> bool:
    """Whether a message in small letters names any of these."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in words)


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
    return next(filter(None, (_word(layer.get(name)) for layer in layers)), "")


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def read_answer(answer: Any) -> Reply:
    """A chat completion as a reply without its cost; reasoning is not in its text.

    Raises:
      ValueError: it is none.
      Transient: the model failed in the middle of its answer.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise ValueError("it is no chat completion")
    reply = counted(answer)
    if not answer["choices"]:
        return reply
    choice = answer["choices"][0]
    message = choice.get("message") if isinstance(choice, dict) else None
    failed = _failed_choice(choice)
    if failed:
        raise Transient(f"the model failed in the middle of its answer: {failed}")
    if not isinstance(message, dict):
        raise ValueError("its first choice has no message")
    written, (finish, reason) = text_of(message.get("content")), finish_of(choice)
    text = answer_in(written)
    if message.get("refusal"):
        return replace(reply, text=text, finish=Finish.BLOCKED, detail="refusal")
    thought = bool(written.strip()) or any(message.get(name) for name in _REASONING)
    detail = f"{reason}, only reasoning" if thought and not text.strip() else reason
    return replace(reply, text=text, finish=finish, detail=detail)


def counted(answer: Mapping[str, Any]) -> Reply:
    """Who answered, and what for how many tokens; no text."""
    counts = _counts(answer.get("usage"))
    return replace(counts, model=_word(answer.get("model")), origin=_word(answer.get("id")))


def finish_of(choice: Mapping[str, Any]) -> tuple[Finish, str]:
    """Why a choice ends, and the server's word for it."""
    reason = _word(choice.get("finish_reason"))
    if reason == "content_filter":
        return Finish.BLOCKED, reason
    return Finish.CUT_OFF if reason.lower() in _CUT_OFF else Finish.STOPPED, reason


_CUT_OFF = frozenset({"length", "model_length", "max_tokens"})
_FAILED = frozenset({"error", "insufficient_system_resource"})


def _failed_choice(choice: object) -> str:
    """What a server says of an answer that a fault of its own ended; "" where none did."""
    if not isinstance(choice, Mapping):
        return ""
    error, reason = choice.get("error"), _word(choice.get("finish_reason"))
    if not error and reason not in _FAILED:
        return ""
    said = error.get("message") if isinstance(error, Mapping) else error
    return said[:_LOOKED_AT] if isinstance(said, str) and said else reason or "no reason given"


_CODE = re.compile("[1-5][0-9]{2}")


def error_in(answer: object) -> tuple[int, Mapping[str, Any]] | None:
    """Status and body of an error that came in a document with status 200; None where it is none.

    Gateways that began to answer before the model failed send it so; the status is 0 where they do
    not tell it.
    """
    if not isinstance(answer, Mapping) or answer.get("choices"):
        return None
    if not answer.get("error") and answer.get("object") != "error":
        return None
    inner = answer.get("error") or answer
    code = inner.get("code") if isinstance(inner, Mapping) else None
    if isinstance(code, str):
        code = 429 if code.startswith("rate_limit") else int(code) if _CODE.fullmatch(code) else 0
    return (code if type(code) is int and 100 <= code <= 599 else 0), answer


_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
"""Where servers put what a model thought; never read as an answer."""


def text_of(content: object) -> str:
    """The text of a message; of one in parts, those that are text."""
    parts = content if isinstance(content, list) else [content]
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") in ("text", "output_text")
    ]
    return valid_text("".join(text for text in texts or parts if isinstance(text, str)))


def _counts(usage: object) -> Reply:
    """Tokens of a reply; reasoning is a part of the completion's tokens in this protocol.

    Some servers count it beside them, or in the total alone: what the total has more is reasoning.
    """
    if not isinstance(usage, Mapping):
        return Reply("")
    details = usage.get("completion_tokens_details")
    thought = _count(details, "reasoning_tokens") or 0
    # No prompt is empty: who reports none of it does not count.
    prompt, written = _count(usage, "prompt_tokens") or None, _count(usage, "completion_tokens")
    if prompt is None or written is None:
        return Reply(
            "", prompt_tokens=prompt, output_tokens=written or None, thought_tokens=thought
        )
    beside = max(0, (_count(usage, "total_tokens") or 0) - prompt - written)
    within = 0 if beside and beside >= thought else min(thought, written)
    return Reply(
        "",
        prompt_tokens=prompt,
        output_tokens=written - within,
        thought_tokens=within + beside,
    )


def _count(numbers: object, name: str) -> int | None:
    value = numbers.get(name) if isinstance(numbers, Mapping) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None
