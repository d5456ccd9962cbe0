"""Axes: from numbers to places, and which numbers to write beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places, in percent of the length; numbers outside end at the border."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Place of a number, 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return 100.0 * min(max(share, 0.0), 1.0)


def round_numbers(low: float, high: float) -> list[float]:
    """At most `MOST_TICKS` multiples of 1, 2 or 5 times a power of ten, within a range."""
    raw = (high - low) / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= raw)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(place * step, 9) for place in range(first, last + 1)]
