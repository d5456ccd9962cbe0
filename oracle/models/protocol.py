"""What is asked of a language model, and what comes back."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol

from oracle.models.prices import Price
from oracle.values import Failure, Rejected

MOST_TOKENS = 10**9
"""Of one call: a server that says more does not count."""


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
      thinking: level of thinking that is asked for, such as "low"; None leaves it to the provider.
      shorter: the same question with less and less in it, for a server that cannot read all of
        it.  What was asked is the question itself, so neither digest nor document has them.
    """

    key: str
    prompt: str
    system: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    seed: int | None = None
    thinking: str | None = None
    shorter: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """64 hex digits over everything but the key: equal digests are equal questions."""
        asked = {name: value for name, value in self.to_document().items() if name != "key"}
        if self.thinking is None:
            del asked["thinking"]  # as it was before there was such a field: old journals answer
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        names = [field.name for field in fields(self) if field.name != "shorter"]
        document = {name: getattr(self, name) for name in names}
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
      sent: the shorter question that was sent in place of the request's own, "" where that was.
      unread: whether the server could not read all that was sent, even of the shortest question.
      lost: of the attempts, those that came to nothing and are probably paid for.
      turned_down: whether the server turned the question down with an error, whose words are the
        detail: that may be an option's fault, or the server's.
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
    sent: str = ""
    unread: bool = False
    lost: int = 0
    turned_down: bool = False

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
        if self.unread:
            return Failure(Rejected.TOO_LONG, f"the server cannot read so long a prompt{said}")
        if self.turned_down:
            return Failure(Rejected.BLOCKED, f"the model's server turned the question down{said}")
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

    @property
    def refused(self) -> bool:
        """Whether there is no answer to the question at all, for whatever reason."""
        kinds = (Rejected.BLOCKED, Rejected.EMPTY, Rejected.TOO_LONG)
        return self.failure is not None and self.failure.kind in kinds

    def paid_with(self, earlier: Reply) -> Reply:
        """The same reply, with what an earlier one to the same question cost added."""

        def total(one: int | None, other: int | None) -> int | None:
            return None if one is None or other is None else one + other

        known = self.cost is not None and earlier.cost is not None
        return replace(
            self,
            prompt_tokens=total(self.prompt_tokens, earlier.prompt_tokens),
            output_tokens=total(self.output_tokens, earlier.output_tokens),
            thought_tokens=self.thought_tokens + earlier.thought_tokens,
            cost=(self.cost or 0.0) + (earlier.cost or 0.0) if known else None,
            attempts=self.attempts + earlier.attempts,
            lost=self.lost + earlier.lost,
            seconds=self.seconds + earlier.seconds,
        )

    def with_lost(self, lost: Sequence[Reply]) -> Reply:
        """The same reply, with attempts before it that came to nothing and are probably paid for.

        Args:
          lost: their counts, priced like this reply.  Of those whose server told none, the number
            alone is added: else one late answer would make the cost of a run unknown.
        """
        reply = self
        for one in lost:
            if one.tokens is not None:  # its attempt is among those of this reply
                reply = reply.paid_with(replace(one, attempts=0, seconds=0.0))
        return replace(reply, lost=self.lost + len(lost))

    def priced(self, price: Price | None) -> Reply:
        """The same reply with its cost at this price; thinking is paid like output."""
        written = None if self.output_tokens is None else self.output_tokens + self.thought_tokens
        return replace(self, cost=price.cost(self.prompt_tokens, written) if price else None)

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Reply:
        """The inverse of `to_document`; a text that was kept as it came is made valid."""
        text = valid_text(document["text"])
        return cls(**{**document, "text": text, "finish": Finish(document["finish"])})


def valid_text(text: str) -> str:
    """Text that can be sent and stored: halves of a character are replaced, pairs of them joined.

    JSON can hold a lone surrogate, and no encoding can.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Model(Protocol):
    """Answers requests.  May be called from several threads at once."""

    @property
    def name(self) -> str:
        """Such as gemini:gemini-3.8-flash; says nothing secret."""
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
          ModelRefuses: it refused too many questions in a row.
          TranscriptExhausted: there is nothing left to replay.
          BudgetSpent: nothing more may be spent.
        """
        ...

    def close(self) -> None:
        """Ends its connections.  It can still be asked, and then opens others."""
        ...
