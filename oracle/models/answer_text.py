"""JSON as servers and gateways send it, with trifles around it that take nothing from an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BLANK = "\ufeff \t\r\n"
_EVENTS = ("data:", "event:", "id:", "retry:", ":")
_DECODER = json.JSONDecoder(strict=False)  # some send ends of lines within a text as they are
_WRAPPERS = ("data", "result", "response")
"""Members in which gateways have been seen to put the whole answer."""


def document_of(text: str) -> Any:
    """The JSON document that a text begins with; what stands behind it is none.

    Raises:
      ValueError: it begins with none, or with several.
      RecursionError: it is nested too deep.
    """
    body = text.lstrip(_BLANK)
    document, end = _DECODER.raw_decode(body)
    if body[end:].lstrip(_BLANK + "\0").startswith(("{", "[")):
        raise ValueError("it is more than one JSON document")
    return document


def unwrapped(document: Any, *holds: str) -> Any:
    """A document without the wrapping of a gateway; as it is, where it has none.

    What stood beside the answer stays beside it, such as an error.

    Args:
      document: of an answer.
      holds: members by which an answer is known, the surest first.
    """
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    if not isinstance(document, Mapping) or any(map(document.get, holds)):
        return document
    inside = [one for one in map(document.get, _WRAPPERS) if isinstance(one, Mapping)]
    for name in holds:
        for one in inside:
            if one.get(name):
                return {**document, **one}
    return document


def data_in(text: str) -> list[str] | None:
    """What each line of server-sent events holds; None for a text that is none of them."""
    body = text.lstrip(_BLANK)
    if not body.startswith(_EVENTS):
        return None
    lines = re.split(r"\r\n|\n|\r", body)  # and nowhere else: a text may hold other ends of lines
    return [line[5:].strip() for line in lines if line.startswith("data:")]
