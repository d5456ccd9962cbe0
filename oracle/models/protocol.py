"""What is asked of a language model, and what comes back."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol

from oracle.models.prices import Price
from oracle.values import Failure, Rejected


class Finish(enum.StrEnum):
    """Why a model stopped writing."""

    STOPPED = "stopped"
    """It was done."""
    CUT_OFF = "cut-off"
    """It ran into the limit on its output."""
    BLOCKED = "blocked"
    """The provider withheld the prompt's answer, or the rest of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
      key: names the call within its run ("k03/a02"); calls are stored under it.
      prompt: the user's text.
      system: the system's text, "" for none.
      temperature: None leaves it to the provider.
      max_output_tokens: None leaves it to the provider; thinking counts against it.
      schema: JSON schema of the answer where structured output is wanted.
      seed: for providers that take one; None leaves it to them.
    """

    key: str
    prompt: str
    system: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    seed: int | None = None

    @property
    def digest(self) -> str:
        """64 hex digits over everything but the key: equal digests are equal questions."""
        asked = {name: value for name, value in self.to_document().items() if name != "key"}
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        document = {field.name: getattr(self, field.name) for field in fields(self)}
        return document | {"schema": None if self.schema is None else dict(self.schema)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Request:
        """The inverse of `to_document`."""
        return cls(**document)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, usable or not.

    Attributes:
      text: what it wrote, "" where it wrote nothing.
      finish: why it stopped.
      detail: the provider's own word for that, such as MAX_TOKENS.
      prompt_tokens: tokens read; None where the server does not say.
      output_tokens: tokens written, without those of thinking; None likewise.
      thought_tokens: tokens of thinking, paid like output; 0 where none are reported.
      cost: list price in US dollars, None where the price or the usage is unknown.
      model: what answered, by the provider's name for it.
      attempts: calls that it took, the one that was answered included.
      seconds: from the first attempt to the answer, waits included.
      origin: the provider's identifier of the reply, "" where there is none.
    """

    text: str
    finish: Finish = Finish.STOPPED
    detail: str = ""
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    thought_tokens: int = 0
    cost: float | None = None
    model: str = ""
    attempts: int = 1
    seconds: float = 0.0
    origin: str = ""

    @property
    def cut_off(self) -> bool:
        """Whether the model ran into the limit on its output."""
        return self.finish is Finish.CUT_OFF

    @property
    def tokens(self) -> int | None:
        """All tokens of the call; None where the server did not say."""
        if self.prompt_tokens is None or self.output_tokens is None:
            return None
        return self.prompt_tokens + self.output_tokens + self.thought_tokens

    @property
    def failure(self) -> Failure | None:
        """Why there is nothing to read in this reply; None where there is.

        A reply that was cut off may still hold a whole program: see `cut_off`.
        """
        said = f" ({self.detail})" if self.detail else ""
        if self.finish is Finish.BLOCKED:
            return Failure(Rejected.BLOCKED, f"the model's provider withheld the reply{said}")
        if self.text.strip():
            return None
        if self.cut_off:
            return Failure(
                Rejected.TRUNCATED,
                f"the output limit was reached before any answer{said}; think less, answer briefly",
            )
        return Failure(Rejected.EMPTY, f"the reply was empty{said}; answer with text")

    def priced(self, price: Price | None) -> Reply:
        """The same reply with its cost at this price; thinking is paid like output."""
        written = None if self.output_tokens is None else self.output_tokens + self.thought_tokens
        return replace(self, cost=price.cost(self.prompt_tokens, written) if price else None)

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Reply:
        """The inverse of `to_document`."""
        return cls(**{**document, "finish": Finish(document["finish"])})


class Model(Protocol):
    """Answers requests.  May be called from several threads at once."""

    @property
    def name(self) -> str:
        """Such as gemini:gemini-2.5-pro; says nothing secret."""
        ...

    @property
    def price(self) -> Price | None:
        """List price, None where it is not known."""
        ...

    def generate(self, request: Request) -> Reply:
        """Answers a request.

        Raises:
          ModelUnavailable: the server did not answer, for longer than we may wait.
          CallRefused: the server will not answer this.
          TranscriptExhausted: there is nothing left to replay.
          BudgetSpent: nothing more may be spent.
        """
        ...
