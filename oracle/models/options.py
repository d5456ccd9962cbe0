"""How to reach a model's server."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from arena.errors import UsageFault
from oracle.models.prices import Price
from oracle.models.retry import RetryPolicy

LOOK_UP_SECONDS = 20.0
"""For the question whether a server knows a model."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Everything about a server but its key, which is read from the environment and never kept.

    Attributes:
      base_url: address of the server; "" for the provider's own (or the SDK's variable for it).
      timeout_seconds: for one attempt.
      price: what the model costs; None for the list price, where there is one.
      concurrency: attempts under way at once.
      retry: see `RetryPolicy`.
    """

    base_url: str = ""
    timeout_seconds: float = 600.0
    price: Price | None = None
    concurrency: int = 4
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageFault(f"the timeout is {self.timeout_seconds} s; it must be above 0")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise UsageFault(
                f"{self.base_url!r} is no address: it must begin with http:// or https://"
            )


def without_secrets(text: str, variables: Iterable[str]) -> str:
    """A text with the values of these environment variables struck out.

    Servers and proxies have been seen to repeat a key in their complaint about it.
    """
    for name in variables:
        secret = os.environ.get(name, "").strip()
        if secret:
            text = text.replace(secret, "***")
    return text
