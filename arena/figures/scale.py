"""Axes: from numbers to places, and which numbers to write beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

MOST_TICKS = 5
APART = 14.0
"""Least distance of the numbers beside a scale of roots, in percent of its length."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places, in percent of the length; numbers outside end at the border."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], room: float) -> Self:
        """Room for all finite numbers, and a share of their range to spare at both ends."""
        finite = [value for value in values if math.isfinite(value)]
        low, high = min(finite, default=0.0), max(finite, default=0.0)
        spare = room * max(high - low, 1.0)
        return cls(low - spare, high + spare)

    def at(self, value: float) -> float:
        """Place of a number, 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return 100.0 * min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Numbers to write beside the axis."""
        return round_numbers(self.low, self.high)


@dataclass(frozen=True, slots=True)
class RootScale(Scale):
    """Square roots, of either sign: a few large numbers leave the many small ones apart."""

    def at(self, value: float) -> float:
        """Place of a number, 0 to 100."""
        low, high, here = (
            math.copysign(math.sqrt(abs(one)), one) for one in (self.low, self.high, value)
        )
        return 100.0 * min(max((here - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[float]:
        """0 where it is inside, and round numbers that are far enough from each other."""
        powers = [10.0**power for power in range(-2, 7)]
        sizes = [unit * power for power in powers for unit in (1, 2, 5)]
        chosen = [0.0] if self.low <= 0.0 <= self.high else []
        for value in [sign * size for size in sizes for sign in (1.0, -1.0)]:
            inside = self.low <= value <= self.high
            if inside and all(abs(self.at(value) - self.at(one)) >= APART for one in chosen):
                chosen.append(value)
        return sorted(chosen)


def round_numbers(low: float, high: float) -> list[float]:
    """At most `MOST_TICKS` multiples of 1, 2 or 5 times a power of ten, within a range."""
    raw = (high - low) / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= raw)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(place * step, 9) for place in range(first, last + 1)]
