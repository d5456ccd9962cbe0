"""List prices of well-known models.  What is not listed here has no price: never a price of zero.

Pay as you go, text, standard tier, gathered from secondary sources and not checked against the
providers' own lists: give `--price` where a budget matters, and compare with
ai.google.dev/gemini-api/docs/pricing or platform.openai.com/docs/pricing.  Discounts for cached
prompts are not counted, so a cost is an upper bound where a provider caches by itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from arena.errors import UsageFault

AS_OF = "2026-11"
"""When the table was last looked through."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
      prompt: of tokens read.
      output: of tokens written, those of thinking included.
      long_prompt: of tokens read where the prompt is longer than `long_from`; None for no change.
      long_output: of tokens written after such a prompt; None for no change.
      long_from: tokens; longer prompts pay the long prices.
    """

    prompt: float
    output: float
    long_prompt: float | None = None
    long_output: float | None = None
    long_from: int = 200_000

    def cost(self, prompt_tokens: int | None, output_tokens: int | None) -> float | None:
        """US dollars for a call; None where its usage is not known, unless all is free.

        Args:
          prompt_tokens: tokens read.
          output_tokens: tokens written and thought.
        """
        if self == FREE:
            return 0.0
        if prompt_tokens is None or output_tokens is None:
            return None
        prompt, output = self.prompt, self.output
        if prompt_tokens > self.long_from:
            prompt = prompt if self.long_prompt is None else self.long_prompt
            output = output if self.long_output is None else self.long_output
        return (prompt_tokens * prompt + output_tokens * output) / 1e6


FREE = Price(0.0, 0.0)

PRICES: dict[str, Price] = {
    "gemini-2.5-pro": Price(1.25, 10.0, long_prompt=2.50, long_output=15.0),
    "gemini-2.5-flash": Price(0.30, 2.50),
    "gemini-2.5-flash-lite": Price(0.10, 0.40),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gpt-4o": Price(2.50, 10.0),
    "gpt-4o-mini": Price(0.15, 0.60),
    "o3": Price(2.0, 8.0),
    "o4-mini": Price(1.10, 4.40),
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.40),
}
_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{3}|latest)$")


def price_of(model: str) -> Price | None:
    """The list price of a model by its provider's name for it; None where it is not listed.

    A dated snapshot of a listed model (gpt-4o-2024-11-20, gemini-2.5-pro-001) costs what the
    model costs.  Other names are never guessed from a prefix.
    """
    name = model.removeprefix("models/")
    return PRICES.get(name) or PRICES.get(_SNAPSHOT.sub("", name))


def parse_price(text: str) -> Price:
    """Reads "1.25/10": US dollars per million tokens read and per million written.

    Raises:
      UsageFault: it does not read like that.
    """
    parts = text.split("/")
    try:
        prompt, output = (float(part) for part in parts)
    except ValueError:
        prompt = output = math.nan
    if not all(math.isfinite(value) and value >= 0 for value in (prompt, output)):
        raise UsageFault(
            f"{text!r} is not a price: write dollars per million tokens as PROMPT/OUTPUT, "
            "such as 1.25/10, or 0/0 for a model that costs nothing"
        )
    return Price(prompt, output)
