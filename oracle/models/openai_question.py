"""Questions of OpenAI's protocol as they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SYSTEM = "system"
"""The role of a message that not every model knows; in the place of a field's name, its message."""
STREAM = "stream"
"""The field that asks for an answer in pieces; in the place of a refused one, a whole answer."""
NEWER = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the limit on output: OpenAI's models refuse the first, others the second."""
_STREAMED: Mapping[str, Any] = {STREAM: True, "stream_options": {"include_usage": True}}
"""Without the second field no usage is told."""


def in_pieces() -> dict[str, Any]:
    """The fields that ask for an answer in pieces."""
    return dict(_STREAMED)


def for_the_sdk(asked: Mapping[str, Any]) -> dict[str, Any]:
    """A question as the SDK's arguments.

    Told that an answer comes in pieces the SDK hands out one after the other, and leaves the
    reading to us; not told it reads them all, as it reads any answer.
    """
    streamed = {name: value for name, value in asked.items() if name in _STREAMED}
    if not streamed:
        return dict(asked)
    whole = {name: value for name, value in asked.items() if name not in _STREAMED}
    return {**whole, "extra_body": streamed}


def format_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The member of a question that asks for an answer of a JSON schema."""
    answer = {"name": "answer", "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": answer}


def path_of(asked: Mapping[str, Any]) -> str:
    """Where a question is sent, behind the address of the API."""
    return "chat/completions" if "messages" in asked else "completions"


def size_of(asked: Mapping[str, Any]) -> int:
    """Characters of a question's texts."""
    return sum(len(one["content"]) for one in asked.get("messages", ())) + len(
        asked.get("prompt", "")
    )
