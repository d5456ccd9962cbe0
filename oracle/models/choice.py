"""From a text such as "gemini:gemini-3.8-flash" to a model, and what is to be said of it."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

from arena.errors import UsageFault
from oracle.grammar.starts import STARTS
from oracle.models.catalogue import catalogue
from oracle.models.errors import CallRefused, ModelUnavailable, UnknownModel
from oracle.models.gemini import KEYS, GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import Asking, ServerOptions
from oracle.models.protocol import Model
from oracle.models.recorded import RecordedModel
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import TextModel

FORMS = "gemini, gemini:NAME, openai:NAME, text:NAME, recorded:FILE"
"""How a model is written; several, which take turns, with commas between them."""
ASKED = ("gemini", "openai", TextModel.kind)
"""Kinds of models that are asked when they are needed."""
_LOOK_UP_RETRIES = RetryPolicy(attempts=3, first_wait=0.5, longest_wait=1.0)
"""With a server that cannot be reached at the start: somebody is waiting for the message."""


def names_of(text: str) -> tuple[str, ...]:
    """The models that a text names: those between its commas."""
    return tuple(name.strip() for name in text.split(","))


def model_from(text: str, options: ServerOptions | None = None) -> Model:
    """The model that a text names.  Nothing is asked, and no key is needed yet.

    Args:
      text: one of `FORMS`; gemini alone is the catalogue's default.
      options: how to reach the server; a recorded model has none.

    Raises:
      UnknownModel: it is written in no such way.
      BadTranscript: the file to be replayed cannot be read.
    """
    kind, colon, name = text.partition(":")
    if colon and not name.strip():
        raise UnknownModel(f"{text!r} lacks what comes after the colon; models are {FORMS}")
    if kind == "gemini":
        return GeminiModel(name, options)
    if kind == "openai" and name:
        return OpenAIModel(name, options)
    if kind == TextModel.kind and name:
        return TextModel(name, options)
    if kind == "recorded" and name:
        return RecordedModel(Path(name))
    if text in STARTS:
        raise UnknownModel(
            "the grammar writes programs without a language model, and beside none: leave it out"
        )
    raise UnknownModel(f"no model is written {text!r}; there are {', '.join(STARTS)}, {FORMS}")


def check_access(model: Model) -> None:
    """Finds out before any work is done whether a model can be asked.

    Nothing is generated, but for one token where a server lists other models alone.  A server that
    is only busy passes: calls outlast that.

    Raises:
      MissingKey: its key is not in the environment.
      MissingPackage: its package is not installed.
      ModelUnavailable: its server cannot be reached.
      CallRefused: the server does not take the key, or does not know the model.
    """
    if not isinstance(model, GeminiModel | OpenAIModel):
        return
    try:
        Caller(_LOOK_UP_RETRIES).call("access", model.look_up)
    except (ModelUnavailable, CallRefused) as error:
        raise type(error)(f"{model.name} cannot be asked: {error}") from error
    finally:
        model.close()


def has_gemini_key() -> bool:
    """Whether the environment has a key for Gemini."""
    return any(os.environ.get(name) for name in KEYS)


def check_asking(model: str, asking: Asking) -> None:
    """Refuses options that a model is known not to heed, before a run is named after them.

    Args:
      model: as it is written, such as "gemini:gemini-3.8-flash"; each of several must take them.
      asking: how it is to be asked.

    Raises:
      UsageFault: an option would do nothing, or the model does not take it.
    """
    for one in names_of(model):
        _check_asking(one, asking)


def _check_asking(model: str, asking: Asking) -> None:
    kind, _, name = model.partition(":")
    if kind not in ASKED:
        if asking != Asking():
            raise UsageFault(f"{model} is no model that is asked: {asking} would do nothing")
        return
    if kind == TextModel.kind and asking.thinking is not None:
        raise UsageFault(f"{model} continues a text and does not think: leave --thinking out")
    listed = catalogue().find(name)
    if listed is None:
        return
    if asking.temperature is not None and not listed.temperature:
        raise UsageFault(f"{name} ignores the temperature: leave --temperature out")
    levels = listed.thinking
    if asking.thinking is not None and levels is not None and asking.thinking not in levels:
        known = (
            f"its levels of thinking are {', '.join(levels)}" if levels else "it knows no levels"
        )
        raise UsageFault(f"{name} cannot be asked for {asking.thinking} thinking: {known}")
    limit = asking.max_output_tokens
    if limit is not None and listed.output is not None and limit > listed.output:
        raise UsageFault(
            f"{name} writes {listed.output:,} tokens at most; --max-output-tokens is {limit:,}"
        )


def remarks(model: Model, today: date | None = None) -> tuple[str, ...]:
    """What somebody who is about to pay for a model should know, a line each.

    Args:
      model: that is to be asked.
      today: in UTC; the clock's day where it is None.
    """
    today = today or datetime.now(UTC).date()
    name = model.name.partition(":")[2]
    listed = catalogue().find(name)
    found = []
    if model.price is None:
        found.append("its price is not known, nor will be its cost: give --price PROMPT/OUTPUT")
    elif listed and model.price == listed.price(today):
        second_hand = any(not source.primary for source in listed.sources)
        read = ", read at second hand" if second_hand else ""
        found.append(f"list price as of {catalogue().checked}{read}: {model.price}")
    if listed and listed.ends:
        gone = listed.ends <= today
        then = f", and {listed.then} answers in its place" if listed.then else ""
        found.append(f"{name} {'was' if gone else 'will be'} switched off on {listed.ends}{then}")
    return tuple(found)
