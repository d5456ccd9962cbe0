"""Gemini's questions: what is sent beside the prompt, and what a question can do without."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oracle.models.protocol import Request

if TYPE_CHECKING:
    from google.genai import types

SYSTEM = "system"
"""The field of a request that is put into the question where the model takes none."""
OPTIONAL: Mapping[str, re.Pattern[str]] = {
    name: re.compile(words, re.IGNORECASE)
    for name, words in {
        "temperature": r"\btemperature\b",
        "max_output_tokens": r"\bmax[ _]?output[ _]?tokens\b",
        "schema": r"\bJSON[ _]?mode\b|\bresponse[ _]?(?:mime[ _]?type|(?:JSON[ _]?)?schema)\b|"
        r"\bstructured outputs?\b|\bcontrolled generation\b",
        "seed": r"\bseed\b",
        "thinking": r"\bthinking(?:[ _]?(?:config|level|budget|mode))?\b",
    }.items()
}
"""Fields of a request that a question can do without, and the words by which Google names them."""


def named_in(message: str, asked: Collection[str]) -> tuple[str, ...]:
    """The optional fields of those asked with that a refusal names."""
    return tuple(
        name for name, words in OPTIONAL.items() if name in asked and words.search(message)
    )


def fields_of(request: Request) -> frozenset[str]:
    """The fields of a request that say something which a question can do without."""
    said = {name for name in OPTIONAL if getattr(request, name) is not None}
    return frozenset(said | ({SYSTEM} if request.system else set()))


def without(request: Request, form: str, refused: Collection[str]) -> tuple[Request, str]:
    """A request without fields that its model refuses, and the question for it.

    What the system says then stands in the question.
    """
    nothing: dict[str, Any] = {name: None for name in OPTIONAL if name in refused}
    fewer = replace(request, **nothing)
    if SYSTEM not in refused:
        return fewer, form
    return replace(fewer, system=""), "\n\n".join(filter(None, [request.system, form]))


def config_of(request: Request, token: bytes | None) -> types.GenerateContentConfig:
    """All that is sent beside the prompt; the token is one of a reply that goes on."""
    from google.genai import types

    structured = request.schema is not None
    return types.GenerateContentConfig(
        system_instruction=request.system or None,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        seed=None if request.seed is None else request.seed % 2**31,  # an int32 on the wire
        thinking_config=_thinking(request.thinking),
        response_mime_type="application/json" if structured else None,
        response_json_schema=dict(request.schema) if request.schema is not None else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        # The SDK's own continuation follows a server without end, and forgets the parts that were
        # paid for when a later one fails.
        automatic_continuation=False,
        continuation_token=token,
        # On a strange answer the SDK's own reading raises TypeErrors, or warns: we read it.
        should_return_http_response=True,
    )


def _thinking(level: str | None) -> types.ThinkingConfig | None:
    from google.genai import types

    if level is None:
        return None
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper()))
