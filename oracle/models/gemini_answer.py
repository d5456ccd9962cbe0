"""Gemini's answers as documents of its REST API."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oracle.models.answer_text import data_in, document_of, unwrapped
from oracle.models.faults import says_something
from oracle.models.protocol import Finish, Reply, valid_text
from oracle.models.redaction import fit
from oracle.models.usage import believed, count_in

_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "MODEL_ARMOR",
        "PUP_LIMITED_DISABLED",
    }
)
_COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "totalTokenCount",
    "toolUsePromptTokenCount",
)
_LONGEST_WORD = 200
_CUT_OFF = frozenset({"MAX_TOKENS", "CONTINUATION"})


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a reply, mostly the only one, and the token to ask for the next one with."""

    reply: Reply
    token: bytes | None


def document_in(text: str) -> Any:
    """The JSON document of an answer's text, without a proxy's wrapping, its pieces put together.

    Raises:
      ValueError: it is none, or ends before its last piece.
      RecursionError: it is nested too deep.
    """
    data = data_in(text)
    if data is not None:
        return _joined([document_of(one) for one in data if one.startswith("{")])
    found = document_of(text)
    if isinstance(found, list) and len(found) > 1:
        return _joined([one for one in found if isinstance(one, Mapping)])
    return unwrapped(found, "candidates", "promptFeedback", "usageMetadata")


def _joined(pieces: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A document of all pieces: each holds more of the text, the last how it ends."""
    failed = [
        one for one in pieces if says_something(one.get("error")) or one.get("promptFeedback")
    ]
    if failed:
        return failed[0]
    listed = [one.get("candidates") for one in pieces]
    first = [one[0] for one in listed if isinstance(one, list) and one and isinstance(one[0], dict)]
    if not first or not _text(first[-1], "finishReason"):
        raise ValueError("it ends in the middle of an answer in pieces")
    content = [one["content"] for one in first if isinstance(one.get("content"), dict)]
    parts = [part for one in content for part in one.get("parts") or ()]
    return {**pieces[-1], "candidates": [{**first[-1], "content": {"parts": parts}}]}


def read_answer(answer: Any) -> Part:
    """A GenerateContentResponse of the REST API as a part, without its cost.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(answer, dict):
        raise ValueError("it is no JSON object")
    counts = counted(answer)
    blocked = _text(answer.get("promptFeedback"), "blockReason")
    if blocked:
        return Part(replace(counts, finish=Finish.BLOCKED, detail=_told(blocked)), None)
    candidates = answer.get("candidates") or []
    if not isinstance(candidates, list) or not all(isinstance(one, dict) for one in candidates):
        raise ValueError("its candidates are no list of objects")
    if not candidates:
        if "usageMetadata" not in answer:
            raise ValueError("it has neither candidates nor usage")
        return Part(counts, None)
    content = candidates[0].get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    text = valid_text(
        "".join(
            _text(part, "text")
            for part in (parts if isinstance(parts, list) else [])
            if isinstance(part, dict) and not part.get("thought")
        )
    )
    reason = _text(candidates[0], "finishReason")
    token = _text(candidates[0], "continuationToken") if reason in ("", "CONTINUATION") else ""
    counts = believed(counts, wrote=bool(text.strip()))
    reply = replace(counts, text=text, finish=_finish(reason, text), detail=_told(reason))
    return Part(reply, _decoded(token) if token else None)


def counted(answer: Mapping[str, Any]) -> Reply:
    """Who answered, and what for how many tokens; no text."""
    counts = _counts(answer.get("usageMetadata"))
    return replace(counts, model=_text(answer, "modelVersion"), origin=_text(answer, "responseId"))


def _told(word: str) -> str:
    """A server's word for how it ended, fit to be kept."""
    return fit(word)[:_LONGEST_WORD]


def _decoded(token: str) -> bytes:
    """Bytes on the wire: base64 of either alphabet, with or without padding (ProtoJSON)."""
    return base64.b64decode(token.replace("-", "+").replace("_", "/") + "==")


def _counts(usage: object) -> Reply:
    """Tokens of a reply.  Counts of zero are left out on the wire, the usage as a whole is not.

    What the total has more than its parts is thinking that a server counts nowhere else.
    """
    if not isinstance(usage, dict):
        return Reply("")
    prompt, written, thought, total, tools = (count_in(usage, name) or 0 for name in _COUNTS)
    beside = total - prompt - written - thought - tools if prompt else 0
    return Reply(
        "",
        prompt_tokens=prompt or None,  # no prompt is empty
        output_tokens=written,
        thought_tokens=thought + max(0, beside),
    )


def _text(holder: object, name: str) -> str:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def _finish(reason: str, text: str) -> Finish:
    if reason in _BLOCKED:
        return Finish.BLOCKED
    if reason in ("", "STOP", "FINISH_REASON_UNSPECIFIED"):
        return Finish.STOPPED
    # MALFORMED_RESPONSE, OTHER and reasons to come: what was written may lack its end.
    return Finish.CUT_OFF if reason in _CUT_OFF or text else Finish.STOPPED
