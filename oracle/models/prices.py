"""What a model's tokens cost.  Which model costs what is data: see `oracle.models.catalogue`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from arena.errors import UsageFault


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Discounts for cached prompts are not counted, so a cost is an upper bound where a provider
    caches by itself.

    Attributes:
      prompt: of tokens read.
      output: of tokens written, those of thinking included.
      long_prompt: of tokens read where the prompt is longer than `long_from`; None for no change.
      long_output: of tokens written after such a prompt; None for no change.
      long_from: tokens; longer prompts pay the long prices.
      known_to: tokens; what longer prompts cost is not known.  None: all is known.
    """

    prompt: float
    output: float
    long_prompt: float | None = None
    long_output: float | None = None
    long_from: int = 200_000
    known_to: int | None = None

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
        if self.known_to is not None and prompt_tokens > self.known_to:
            return None
        prompt, output = self.prompt, self.output
        if prompt_tokens > self.long_from:
            prompt = prompt if self.long_prompt is None else self.long_prompt
            output = output if self.long_output is None else self.long_output
        return (prompt_tokens * prompt + output_tokens * output) / 1e6

    def __str__(self) -> str:
        return f"${self.prompt:g} read, ${self.output:g} written per million tokens"


FREE = Price(0.0, 0.0)


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
