"""The document of an answer, also where it comes in pieces, asked for or not.

Some gateways stream whatever they are asked for: lines of server-sent events, of which each holds a
piece of an answer.  Others refuse a question that does not ask for that.  Taken for no answer,
every call would be paid for several times and come to nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from oracle.models.chat_completions import error_in, read_refusal, text_of

_BLANK = "\ufeff \t\r\n"
_EVENTS = ("data:", "event:", "id:", "retry:", ":")
_END = "[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "thinking", "refusal")
"""Parts of a message that come in pieces."""
_ANSWERS = ("content", "refusal")
"""Those of them that answer; the others are what the model thought."""


def document_in(text: str) -> Any:
    """The JSON document of an answer's text.

    Raises:
      ValueError: it is none, or ends or fails before its last piece.
      RecursionError: it is nested too deep.
    """
    body = text.lstrip(_BLANK)
    if not body.startswith(_EVENTS):
        return json.loads(body)
    lines = re.split(r"\r\n|\n|\r", body)  # and nowhere else: a text may hold other ends of lines
    data = [line[5:].strip() for line in lines if line.startswith("data:")]
    pieces = [json.loads(one) for one in data if one not in ("", _END)]
    if not pieces or not all(isinstance(one, Mapping) for one in pieces):
        raise ValueError("its pieces are no JSON objects")
    for place, one in enumerate(pieces):
        if _is_error(one):
            return _failed(one, begun=any(map(_begins, pieces[:place])))
    whole = [one for one in pieces if _says(one, "message")]
    streamed = any(_says(one, "delta") for one in pieces)
    if len(whole) == 1 and (not streamed or _says(whole[0], "message", _ANSWERS)):
        return {**whole[0], "usage": whole[0].get("usage") or _last(pieces, "usage")}
    part = "message" if whole and not streamed else "delta"  # some call the increments so
    return _joined(pieces, part, ended=_END in data)


def _is_error(piece: Mapping[str, Any]) -> bool:
    """Whether a piece tells of a failure, in any of the forms that servers give it."""
    named = piece.get("error") or "error" in (piece.get("object"), piece.get("type"))
    return bool(named) or ("message" in piece and "choices" not in piece)


def _failed(piece: Mapping[str, Any], *, begun: bool) -> dict[str, Any]:
    """The document of a failure alone: whatever came before it is no answer."""
    document = {"error": piece.get("error") or piece}
    failed = error_in(document)
    if begun and failed is not None and not failed[0]:  # of no status
        refusal = read_refusal(0, document, "")
        if not (refusal.too_long or refusal.by_policy or refusal.no_credit):
            raise ValueError("it fails in the middle of an answer in pieces")
    return document


def _says(piece: Mapping[str, Any], part: str, texts: Sequence[str] = _TEXTS) -> bool:
    """Whether a part of a piece has any text: the first and the last often have none."""
    found = [one.get(part) for one in _first(piece.get("choices"))]
    return any(isinstance(one, Mapping) and any(map(one.get, texts)) for one in found)


def _begins(piece: Mapping[str, Any]) -> bool:
    """Whether an answer has begun with this piece."""
    told = any(one.get("text") for one in _first(piece.get("choices")))
    return told or _says(piece, "delta") or _says(piece, "message")


def _joined(pieces: Sequence[Mapping[str, Any]], part: str, *, ended: bool) -> dict[str, Any]:
    """A document of the first choices of all pieces; `part` names where their texts are."""
    choices = [one for piece in pieces for one in _first(piece.get("choices"))]
    finish = [one["finish_reason"] for one in choices if one.get("finish_reason")]
    if not finish and not ended:
        raise ValueError("it ends in the middle of an answer in pieces")
    deltas = [one.get(part) for one in choices]
    message: dict[str, Any] = {"role": "assistant"}
    for name in _TEXTS:
        found = [one.get(name) for one in deltas if isinstance(one, Mapping) and one.get(name)]
        if found:
            message[name] = "".join(one if isinstance(one, str) else text_of(one) for one in found)
    texts = [one["text"] for one in choices if isinstance(one.get("text"), str)]
    choice = {"index": 0, "message": message, "finish_reason": finish[-1] if finish else "stop"}
    choice["error"] = next((one["error"] for one in choices if one.get("error")), None)
    if texts:
        choice["text"] = "".join(texts)
    known = {name: _last(pieces, name) for name in ("id", "model", "usage")}
    return {**known, "choices": [choice] if choices else []}


def _first(choices: object) -> list[Mapping[str, Any]]:
    """The first choice of a piece, if it has one; a piece may be of another choice."""
    listed = choices if isinstance(choices, list) else []
    return [one for one in listed if isinstance(one, Mapping) and not one.get("index")][:1]


def _last(pieces: Sequence[Mapping[str, Any]], name: str) -> Any:
    """What the last piece says that says it: usage grows, and comes at the end."""
    return next((one[name] for one in reversed(pieces) if one.get(name)), None)
