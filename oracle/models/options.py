"""How to reach a model's server."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from arena.errors import UsageFault
from oracle.models.prices import Price
from oracle.models.reaching import address_of
from oracle.models.retry import RetryPolicy

LOOK_UP_SECONDS = 20.0
"""For the question whether a server knows a model."""


THINKING = ("minimal", "low", "medium", "high")
"""Levels of thinking that may be asked for; a model need not know all of them."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked; kept with a run.

    Runs that differ in the first three are different runs.  The others change how long a call may
    take, how many there are at once, and how a prompt is cut to a server's measure, so that a run
    can go on with other values.

    Attributes:
      temperature: None leaves it to the provider.
      max_output_tokens: of an answer, thinking included; None leaves it to the provider.
      thinking: one of `THINKING`; None leaves it to the provider.
      timeout_seconds: for one attempt, whole answer included.
      parallel: calls under way at once.
      context_tokens: of the server, prompt and answer together, where it is known.
    """

    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: str | None = None
    timeout_seconds: float = field(default=600.0, compare=False)
    parallel: int = field(default=4, compare=False)
    context_tokens: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0.0 <= self.temperature <= 2.0:
            raise UsageFault(f"the temperature is {self.temperature}; it must be in [0, 2]")
        if self.thinking is not None and self.thinking not in THINKING:
            raise UsageFault(
                f"there is no level of thinking {self.thinking!r}; there are {', '.join(THINKING)}"
            )
        if not 0 < self.timeout_seconds < math.inf:
            raise UsageFault(f"the timeout is {self.timeout_seconds} s; it must be above 0")
        for name in ("max_output_tokens", "parallel", "context_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageFault(f"{name} is {value}; it must be at least 1")

    def pace(self) -> dict[str, str]:
        """The values that may change while a run goes on, in words, by their fields."""
        context = self.context_tokens
        return {
            "timeout_seconds": f"{self.timeout_seconds:g} s",
            "parallel": str(self.parallel),
            "context_tokens": "found out" if context is None else f"{context:,} tokens",
        }

    def __str__(self) -> str:
        """What was chosen of the values that make a run another one; "" for nothing."""
        chosen = {
            "temperature": self.temperature,
            "output": self.max_output_tokens,
            "thinking": self.thinking,
        }
        return ", ".join(f"{name} {value}" for name, value in chosen.items() if value is not None)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Everything about a server but its key, which is read from the environment and never kept.

    Attributes:
      base_url: address of the server; "" for the provider's own (or the SDK's variable for it).
      timeout_seconds: for one attempt, whole answer included.
      price: what the model costs; None for the list price, where there is one.
      concurrency: attempts under way at once.
      context_tokens: that the server reads and writes in one call, where that is known.
      retry: see `RetryPolicy`.
    """

    base_url: str = ""
    timeout_seconds: float = 600.0
    price: Price | None = None
    concurrency: int = 4
    context_tokens: int | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageFault(f"the timeout is {self.timeout_seconds} s; it must be above 0")
        address_of(self.base_url, "the server's address")
