"""Errors in a document of status 200: instead of an answer, beside one, or in its middle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from oracle.models import refusal_words as words
from oracle.models.chat_completions import REASONING, read_refusal, word_of
from oracle.models.usage import counts_in

_FAILED = frozenset({"abort", "error", "insufficient_system_resource", "network_error"})
_CODE = re.compile("[45][0-9]{2}")
_SAYING = ("message", "msg", "error", "detail", "title", "code", "type", "status")
_WELL = frozenset({"0", "200", "success", "ok"})
"""Words and codes with which gateways say that all is well."""


def says_something(error: object) -> bool:
    """Whether an error is one: some gateways send an empty one beside every answer."""
    if isinstance(error, Mapping):
        return any(says_something(error.get(name)) for name in _SAYING)
    return bool(error) and not _is_well(error)


def _is_well(code: object) -> bool:
    return str(code).lower() in _WELL


def is_failure(reason: object) -> bool:
    """Whether an answer that ends for this reason is none, as a fault of the server's ended it."""
    return word_of(reason).lower() in _FAILED


def fault_in(answer: object) -> str:
    """What a server says of an answer that a fault of its own ended; "" where none did.

    An error may stand in the choice, or beside it: what was written so far is no answer.
    """
    choice = _choice_of(answer)
    error, reason = _error_beside(answer), word_of(choice.get("finish_reason"))
    if not choice or (not error and not is_failure(reason)):
        return ""
    said = error.get("message") if isinstance(error, Mapping) else error
    return said if isinstance(said, str) and said else reason or "no reason given"


def has_begun(answer: object) -> bool:
    """Whether a model has written, so that its answer is probably paid for however it ended."""
    choice = _choice_of(answer)
    message = choice.get("message")
    parts = message if isinstance(message, Mapping) else {}
    return bool(choice.get("text")) or any(map(parts.get, ("content", *REASONING)))


def _choice_of(answer: object) -> Mapping[str, Any]:
    """The first choice of an answer; an empty one where there is none."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}


def _error_beside(answer: object) -> object:
    """The error in a document's first choice or beside its choices; None where there is none."""
    beside = answer.get("error") if isinstance(answer, Mapping) else None
    return next(filter(says_something, (_choice_of(answer).get("error"), beside)), None)


def error_in(answer: object) -> tuple[int, Mapping[str, Any]] | None:
    """Status and body of an error that came in a document with status 200; None where it is none.

    Gateways that began to answer before the model failed send it so.  The status is the one that
    is told, or that its words mean; 0 where they mean none.
    """
    if not isinstance(answer, Mapping):
        return None
    if answer.get("choices"):
        error = _error_beside(answer)
        if has_begun(answer) or not error:
            return None  # see `fault_in`
        answer = {"error": error}
    base = answer.get("base_resp")  # of MiniMax
    failed = says_something(answer.get("error")) or answer.get("object") == "error"
    if isinstance(base, Mapping) and base.get("status_code"):
        body: Mapping[str, Any] = {"error": {"message": base.get("status_msg")}}
    elif failed or _says_alone(answer):
        body = answer
    else:
        return None
    return _status_of(body), body


def _status_of(body: Mapping[str, Any]) -> int:
    """The status of an error: the one that is told, or that its words mean; 0 for none."""
    inner = body.get("error") or body
    codes = [inner.get(name) for name in ("code", "status")] if isinstance(inner, Mapping) else []
    numbers = [str(one) for one in codes if isinstance(one, int | str)]
    told = next((int(one) for one in numbers if _CODE.fullmatch(one)), 0)
    if told:
        return told
    refusal = read_refusal(told, body, "")
    if refusal.no_credit:
        return 402
    return words.status_in([refusal.code, *map(word_of, codes), refusal.kind], refusal.message)


def _says_alone(answer: Mapping[str, Any]) -> bool:
    """Whether a document has words of its own where an answer should be.

    Not where it says that all is well, or what a model took: then an answer was probably paid for
    that cannot be read.
    """
    if answer.get("candidates") or answer.get("success") is True or _took_tokens(answer):
        return False
    if any(_is_well(answer.get(name)) for name in ("code", "status", "msg", "message")):
        return False
    return any(isinstance(answer.get(name), str) for name in ("message", "msg", "detail"))


def _took_tokens(answer: Mapping[str, Any]) -> bool:
    """Whether a document that plainly is no error tells what a model took."""
    told = counts_in(answer.get("usage")).prompt_tokens is not None
    return told and not _CODE.fullmatch(str(answer.get("code")))
