"""From a text such as "gemini:gemini-2.5-pro" to a model."""

from __future__ import annotations

import os
from pathlib import Path

from oracle.models.errors import CallRefused, ModelUnavailable, UnknownModel
from oracle.models.gemini import DEFAULT_MODEL, KEYS, GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Model
from oracle.models.recorded import RecordedModel
from oracle.models.retry import Caller, RetryPolicy

FORMS = "gemini, gemini:NAME, openai:NAME, recorded:FILE"
"""How a model is written."""
_PATIENCE = RetryPolicy(attempts=3, first_wait=0.5, longest_wait=1.0)
"""With a server that cannot be reached at the start: somebody is waiting for the message."""


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
    """Finds out before any work is done whether a model can be asked; nothing is generated.

    A server that is only busy passes: calls outlast that.

    Raises:
      MissingKey: its key is not in the environment.
      MissingPackage: its package is not installed.
      ModelUnavailable: its server cannot be reached.
      CallRefused: the server does not take the key, or does not know the model.
    """
    if not isinstance(model, GeminiModel | OpenAIModel):
        return
    try:
        Caller(_PATIENCE).call("access", model.look_up)
    except (ModelUnavailable, CallRefused) as error:
        raise type(error)(f"{model.name} cannot be asked: {error}") from error


def has_gemini_key() -> bool:
    """Whether the environment has a key for Gemini."""
    return any(os.environ.get(name) for name in KEYS)
