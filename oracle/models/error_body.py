"""What an error's body says, whatever a server or a gateway wraps it in.

An error of OpenAI's protocol is {"error": {"message": ..., "code": ...}}.  Others put that into a
list (Gemini's endpoint of this protocol), a validator's findings into the message (Mistral), and
what their provider said, as a text, beside a message of their own that tells nothing (OpenRouter).
Servers made with ASP.NET send a problem document (RFC 9457) with findings by the field's path.  A
body is therefore read in layers, and the innermost that says something is believed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_DEEPEST = 5
_MOST_TEXT = 20_000
"""Characters of a text in which another document is looked for."""
_WRAPPERS = ("error", "errors", "message", "detail")
"""Members that may hold another layer; so does what a gateway's provider said, as it came."""
_WORDS = ("message", "msg", "error", "detail", "title")
"""Members that may hold a layer's words, the likeliest first."""


def layers_of(body: object, depth: int = 0) -> list[Mapping[str, Any]]:
    """The documents in an error's body, which may be anything, from the outermost inwards."""
    if depth > _DEEPEST:
        return []
    if isinstance(body, str):
        document = _document_in(body)
        inner = layers_of(document, depth + 1) if document is not None else []
        return inner or ([{"message": body}] if body else [])
    if isinstance(body, list):
        if any(isinstance(one, Mapping) and "loc" in one for one in body):
            return [{"detail": body}]  # a validator's findings belong together
        return next(filter(None, (layers_of(one, depth + 1) for one in body)), [])
    if not isinstance(body, Mapping):
        return []
    found: list[Mapping[str, Any]] = [body]
    for name in _WRAPPERS:
        inside = body.get(name)
        if isinstance(inside, str) and _document_in(inside) is None:
            continue  # its own words
        found += layers_of(inside, depth + 1)
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        found += layers_of(metadata.get("raw"), depth + 1)
    return found


def _document_in(text: str) -> object:
    """The document that a text is; None where it is none."""
    if len(text) > _MOST_TEXT or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def words_of(layer: Mapping[str, Any]) -> str:
    """What a layer says, "" for nothing."""
    found = (layer.get(name) for name in _WORDS)
    said = (_validator_words(one) if isinstance(one, list) else one for one in found)
    own = next((one for one in said if isinstance(one, str) and one.strip()), "")
    by_field = [f"{path}: {' '.join(words)}" for path, words in _findings(layer).items()]
    return " ".join(filter(None, [own, "; ".join(by_field)]))


def fields_of(layer: Mapping[str, Any]) -> Iterator[str]:
    """Fields of the question that a layer names by themselves."""
    param = layer.get("param")
    if isinstance(param, str) and param:
        yield re.split(r"[.\[]", param)[0]  # of a path such as "response_format.json_schema"
    detail = layer.get("detail")
    for one in detail if isinstance(detail, list) else ():  # {"loc": ["body", "seed"], ...}
        place = one.get("loc") if isinstance(one, Mapping) else None
        if isinstance(place, list):
            yield from (part for part in place[:2] if isinstance(part, str))
    for path in _findings(layer):  # "$.seed", "Seed", "$.response_format.type"
        yield from re.findall(r"\w+", path)[:2]


def _findings(layer: Mapping[str, Any]) -> dict[str, list[str]]:
    """What a problem document finds wrong with each field, by the path of the field."""
    errors = layer.get("errors")
    if not isinstance(errors, Mapping):
        return {}
    texts = {
        str(path): [one for one in found if isinstance(one, str)]
        for path, found in errors.items()
        if isinstance(found, list)
    }
    return {path: words for path, words in texts.items() if words}


def _validator_words(detail: list[Any]) -> str:
    """A validator's list of errors in words."""
    found = []
    for one in detail:
        if isinstance(one, Mapping) and isinstance(one.get("msg"), str):
            place = one.get("loc")
            where = ".".join(map(str, place)) if isinstance(place, list) else ""
            found.append(f"{where}: {one['msg']}" if where else one["msg"])
    return "; ".join(found)
