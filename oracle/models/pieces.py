"""The document of an answer, also where it comes in pieces, asked for or not.

Some gateways stream whatever they are asked for: lines of server-sent events, of which each holds a
piece of an answer.  Others refuse a question that does not ask for that.  Taken for no answer,
every call would be paid for several times and come to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oracle.models.answer_text import data_in, document_of, unwrapped
from oracle.models.chat_completions import read_refusal, text_of
from oracle.models.faults import error_in, is_failure, says_something

_END = re.compile(r"\[?DONE\]?", re.IGNORECASE)
_TEXTS = ("content", "reasoning_content", "reasoning", "thinking", "refusal")
"""Parts of a message that come in pieces."""
_ANSWERS = ("content", "refusal")
"""Those of them that answer; the others are what the model thought."""


def document_in(text: str) -> Any:
    """The JSON document of an answer's text, without a gateway's wrapping.

    Raises:
      ValueError: it is none, or ends or fails before its last piece.
      RecursionError: it is nested too deep.
    """
    data = data_in(text)
    if data is None:
        return unwrapped(document_of(text), "choices", "usage")
    pieces = _pieces_in(data)
    for place, one in enumerate(pieces):
        if _is_error(one):
            return _failed(one, begun=any(map(_begins, pieces[:place])))
    whole = [one for one in pieces if _says(one, "message")]
    streamed = any(_says(one, "delta") for one in pieces)
    if len(whole) == 1 and (not streamed or _says(whole[0], "message", _ANSWERS)):
        return {**whole[0], "usage": whole[0].get("usage") or _last(pieces, "usage")}
    part = "message" if whole and not streamed else "delta"  # some call the increments so
    return _joined(pieces, part, ended=any(map(_END.fullmatch, data)))


def _pieces_in(data: Iterable[str]) -> list[Mapping[str, Any]]:
    """The pieces of an answer; what is none, such as a ping, is left out.

    What comes behind the last word, and is an error or cannot be read, takes nothing from the
    answer, but for the usage that it may have told.

    Raises:
      ValueError: there are none, or one before the last word is no JSON object.
    """
    pieces: list[Mapping[str, Any]] = []
    for one in data:
        if _END.fullmatch(one) or not one.startswith(("{", "[")):
            continue
        finished = any(map(_finishes, pieces))
        try:
            piece = document_of(one)
        except ValueError:
            if finished:
                break
            raise
        if not isinstance(piece, Mapping):
            raise ValueError("its pieces are no JSON objects")
        if not (finished and _is_error(piece)):
            pieces.append(piece)
    if not pieces:
        raise ValueError("its pieces are no JSON objects")
    return pieces


def _finishes(piece: Mapping[str, Any]) -> bool:
    """Whether an answer ends with this piece, and not by a fault."""
    reasons = [one.get("finish_reason") for one in _first(piece.get("choices"))]
    return any(reason and not is_failure(reason) for reason in reasons)


def _is_error(piece: Mapping[str, Any]) -> bool:
    """Whether a piece tells of a failure, in any of the forms that servers give it."""
    if says_something(piece.get("error")) or "error" in (piece.get("object"), piece.get("type")):
        return True
    return says_something(piece.get("message")) and "choices" not in piece


def _failed(piece: Mapping[str, Any], *, begun: bool) -> dict[str, Any]:
    """The document of a failure alone: whatever came before it is no answer."""
    error = piece.get("error")
    document = {"error": error if says_something(error) else piece}
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
    if not finish and not ended and not _tells_usage_last(pieces):
        raise ValueError("it ends in the middle of an answer in pieces")
    deltas = [one.get(part) for one in choices]
    message: dict[str, Any] = {"role": "assistant"}
    for name in _TEXTS:
        found = [one.get(name) for one in deltas if isinstance(one, Mapping) and one.get(name)]
        if found:
            message[name] = "".join(one if isinstance(one, str) else text_of(one) for one in found)
    texts = [one["text"] for one in choices if isinstance(one.get("text"), str)]
    choice = {"index": 0, "message": message, "finish_reason": finish[-1] if finish else "stop"}
    choice["error"] = next(filter(says_something, (one.get("error") for one in choices)), None)
    if texts:
        choice["text"] = "".join(texts)
    known = {name: _last(pieces, name) for name in ("id", "model", "usage")}
    return {**known, "choices": [choice] if choices else []}


def _tells_usage_last(pieces: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last piece, and it alone, tells the usage and holds nothing else of an answer.

    A server knows what it wrote when it is done, so nothing is missing then.
    """
    *before, last = pieces
    told = bool(last.get("usage")) and not last.get("choices")
    return told and any(map(_begins, before)) and not any(one.get("usage") for one in before)


def _first(choices: object) -> list[Mapping[str, Any]]:
    """The first choice of a piece, if it has one; a piece may be of another choice."""
    listed = choices if isinstance(choices, list) else []
    return [one for one in listed if isinstance(one, Mapping) and not one.get("index")][:1]


def _last(pieces: Sequence[Mapping[str, Any]], name: str) -> Any:
    """What the last piece says that says it: usage grows, and comes at the end."""
    return next((one[name] for one in reversed(pieces) if one.get(name)), None)
