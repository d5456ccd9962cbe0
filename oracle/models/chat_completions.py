"""OpenAI's chat completions as documents: what an answer says, and what a refusal means."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

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
_MISTAKEN = frozenset({500, 501})
"""Statuses with which some refuse a field: they count where the words say so plainly."""
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
    r"maximum context length|(?:exceeds?|exceeded|longer than) the (?:\w+ )?context|"
    r"context (?:size|length|window) (?:was |has been )?exceeded|exceed context window|"
    r"context (?:the )?overflow|input token count|prompt is too long|too many tokens",
    re.IGNORECASE,
)
_LIMITS = (
    re.compile(r"maximum context length (?:is|of) ([\d,]+)", re.IGNORECASE),
    re.compile(r"maximum number of tokens allowed \(?([\d,]+)", re.IGNORECASE),
    re.compile(r"context (?:size|length|window) (?:is |of )?(?:only )?\(?([\d,]+)", re.IGNORECASE),
)
_NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|un)[ -]?(?:supported|allowed)|"
    r"only (?:the )?user\b.{0,40} roles? (?:are|is) (?:supported|allowed)|"
    r"conversation roles must alternate|(?:developer|system) instruction is not enabled",
    re.IGNORECASE,
)
"""What templates of models say that know users and assistants alone: some by counting turns."""
SYSTEM_REFUSED = "takes no system message, put before the question instead"
_PROMPT_TOKENS = re.compile(r"([\d,]+) (?:in the messages|input tokens)", re.IGNORECASE)
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
        return self.status in REFUSES and bool(_TOO_LONG.search(self.message))

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
        return self.status in {*REFUSES, 500} and bool(_NO_SYSTEM.search(self.message))

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
        named = tuple(name for name in optional if name in self.fields)
        return named or tuple(name for name in optional if _names(self.message, OPTIONAL[name]))


def _names(message: str, words: tuple[str, ...]) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message, re.IGNORECASE) for word in words
    )


def read_refusal(status: int, body: object, message: str) -> Refusal:
    """A refusal from an error's body, which may be anything at all.

    Args:
      status: of HTTP.
      body: the JSON document, or the `error` in it, where there is one.
      message: what is said where the body says nothing.
    """
    document = body if isinstance(body, Mapping) else {"message": body}
    inner = document.get("error")
    error: Mapping[Any, Any] = inner if isinstance(inner, Mapping) else document
    detail = _validator_words(document.get("detail"))
    words = (error.get("message"), inner, detail, message)
    context = error.get("n_ctx")
    return Refusal(
        status=status,
        code=_word(error.get("code")),
        kind=_word(error.get("type")),
        fields=(*_named_by(error.get("param")), *_located(document.get("detail"))),
        message=next(one for one in words if isinstance(one, str))[:_LOOKED_AT],
        context=context if type(context) is int and context > 0 else None,
    )


def _validator_words(detail: object) -> object:
    """A validator's list of errors in words; anything else as it is."""
    if not isinstance(detail, list):
        return detail
    found = []
    for one in detail:
        if isinstance(one, Mapping) and isinstance(one.get("msg"), str):
            place = one.get("loc")
            where = ".".join(map(str, place)) if isinstance(place, list) else ""
            found.append(f"{where}: {one['msg']}" if where else one["msg"])
    return "; ".join(found) or None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _named_by(param: object) -> tuple[str, ...]:
    """The field of a path such as "response_format.json_schema"."""
    return (re.split(r"[.\[]", param)[0],) if isinstance(param, str) and param else ()


def _located(detail: object) -> tuple[str, ...]:
    """Fields in the locations of a validator's errors: {"loc": ["body", "seed"], ...}."""
    found: list[str] = []
    for one in detail if isinstance(detail, list) else ():
        place = one.get("loc") if isinstance(one, dict) else None
        if isinstance(place, list):
            found += [part for part in place[:2] if isinstance(part, str)]
    return tuple(found)


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
    return Finish.CUT_OFF if reason in _CUT_OFF else Finish.STOPPED, reason


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
