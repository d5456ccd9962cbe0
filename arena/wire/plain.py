"""What codecs are made of: JSON, what does not fit, and the plain values that all of them share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

Json = Any
"""None, bool, int, float (finite), str, list of these, or dict of these by str."""
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
DEEPEST = 64
"""Levels of an open value; deeper ones are refused before Python's own limit is near."""


class Malformed(Exception):
    """A document does not fit its type; the message says where and what is wanted."""

    def __init__(self, wanted: str, *place: str) -> None:
        super().__init__(wanted, *place)
        self.wanted, self.place = wanted, place

    def inside(self, step: str) -> Malformed:
        """The same, seen from one level further out."""
        return Malformed(self.wanted, step, *self.place)

    def __str__(self) -> str:
        where = ".".join(self.place)
        return f"{where}: {self.wanted}" if where else self.wanted


@dataclass(frozen=True, slots=True)
class Codec:
    """How values of one type cross the wire.

    Attributes:
      encode: a value as JSON.
      decode: the inverse; raises `Malformed`.
      schema: a JSON schema of what `encode` returns.
      textual: whether what is encoded is text or nothing, so that it can stand in an address as it
        is.
    """

    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]
    schema: Mapping[str, Json]
    textual: bool = False


def refuse(wanted: str) -> NoReturn:
    """Says what is wanted in the place of what came."""
    raise Malformed(wanted)


def decode_text(value: Json) -> str:
    """Text that can be written as UTF-8: no half of a pair of surrogates."""
    if not isinstance(value, str):
        refuse("text is wanted")
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse("text is wanted that is Unicode")
    return value


def encode_float(value: float) -> Json:
    """A float; what JSON has no number for is a word."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def decode_float(value: Json) -> float:
    """The inverse of `encode_float`."""
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        refuse("a number is wanted")
    try:
        return float(value)
    except OverflowError:
        refuse("a number is wanted that a float can hold")


def documented(value: Json) -> dict[str, Json]:
    """A JSON object, or a `Malformed`."""
    return value if isinstance(value, dict) else refuse("an object is wanted")
