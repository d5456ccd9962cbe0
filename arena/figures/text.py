"""Texts of figures and pages: references, and numbers as they are shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.analysis.estimates import Estimate


def short_ref(ref: str) -> str:
    """A reference without its number where that is 1: charts have little room."""
    return ref.removesuffix("@1")


def number(value: float | None, digits: int = 1) -> str:
    """A number; a dash where there is none, and no minus before what is rounded to 0."""
    return "-" if value is None or not math.isfinite(value) else f"{value:z,.{digits}f}"


def signed(value: float | None, digits: int = 1) -> str:
    """A number with its sign; a dash where there is none, and no sign for what is rounded to 0."""
    told = number(value, digits)
    rises = value is not None and value > 0 and told != number(0.0, digits)
    return f"+{told}" if rises else told


def labelled(estimate: Estimate | None, digits: int = 0) -> str:
    """The interval with its name, for where no heading has that."""
    known = estimate is not None and estimate.low == estimate.low
    return f"95 % {interval(estimate, digits)}" if known else "no 95 % interval yet"


def interval(estimate: Estimate | None, digits: int = 0) -> str:
    """The 95 % interval; a dash where it is not known."""
    if estimate is None or estimate.low != estimate.low:
        return "-"
    return f"[{number(estimate.low, digits)}, {number(estimate.high, digits)}]"
