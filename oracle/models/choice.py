"""From a text such as "gemini:gemini-2.5-pro" to a model."""

from __future__ import annotations

import os
from pathlib import Path

from oracle.models.errors import UnknownModel
from oracle.models.gemini import DEFAULT_MODEL, KEYS, GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Model
from oracle.models.recorded import RecordedModel

FORMS = "gemini, gemini:NAME, openai:NAME, recorded:FILE"
"""How a model is written."""


def model_from(text: str, options: ServerOptions | None = None) -> Model:
    """The model that a text names.  Nothing is asked, and no key is needed yet.

    Args:
      text: one of `FORMS`; gemini alone is gemini-2.5-pro.
      options: how to reach the server; a recorded model has none.

    Raises:
      UnknownModel: it is written in no such way.
      BadTranscript: the file to be replayed cannot be read.
    """
    kind, colon, name = text.partition(":")
    if colon and not name.strip():
        raise UnknownModel(f"{text!r} lacks what comes after the colon; models are {FORMS}")
    if kind == "gemini":
        return GeminiModel(name or DEFAULT_MODEL, options)
    if kind == "openai" and name:
        return OpenAIModel(name, options)
    if kind == "recorded" and name:
        return RecordedModel(Path(name))
    if text == "grammar":
        raise UnknownModel("the grammar writes programs without a language model")
    raise UnknownModel(f"no model is written {text!r}; there are grammar, {FORMS}")


def check_access(model: Model) -> None:
    """Finds out before any work is done whether a model could be asked; asks nothing.

    Raises:
      MissingKey: its key is not in the environment.
      MissingPackage: its package is not installed.
    """
    if isinstance(model, GeminiModel | OpenAIModel):
        model.connect()


def has_gemini_key() -> bool:
    """Whether the environment has a key for Gemini."""
    return any(os.environ.get(name) for name in KEYS)
