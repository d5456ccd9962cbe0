"""Mixtures: before each match one member is drawn, and plays the whole match.

The payload is canonical JSON, {"weights": {digest: weight}}; members are versions of the same
game, possibly mixtures themselves.  Whether they are registered is for the caller to check.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Any

TOLERANCE = 1e-9
"""How far the weights may be from adding up to 1."""
_UNIFORM_BITS = 53
"""As many as a float between 0 and 1 has."""


def payload_of(weights: Mapping[str, float]) -> str:
    """The canonical payload of a mixture.

    Args:
      weights: digest to weight; positive, adding up to 1.

    Raises:
      ValueError: the weights are not like that.
    """
    _check(weights)
    exact = {digest: float(weight) for digest, weight in weights.items()}
    return json.dumps({"weights": exact}, sort_keys=True, separators=(",", ":"))


@functools.lru_cache(maxsize=256)
def weights_of(payload: str) -> Mapping[str, float]:
    """The members' digests and weights, in order of digest.

    Raises:
      ValueError: it is not the payload of a mixture.
    """
    try:
        fields = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"a mixture's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {"weights"}:
        raise ValueError(f'a mixture\'s payload has "weights" and nothing else: {payload[:200]}')
    weights = fields["weights"]
    if not isinstance(weights, dict):
        raise ValueError('"weights" must map digests to weights')
    _check(weights)
    return MappingProxyType({digest: float(weights[digest]) for digest in sorted(weights)})


def _check(weights: Mapping[str, Any]) -> None:
    if not weights:
        raise ValueError("a mixture has at least one member")
    for digest, weight in weights.items():
        if not digest or set(digest) - set("0123456789abcdef"):
            raise ValueError(f"{digest!r} is no digest: members are named by hexadecimal digits")
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (number and 0 < weight <= 1 + TOLERANCE):
            raise ValueError(f"the weight of {digest} is {weight!r}; it must be in (0, 1]")
    total = math.fsum(weights.values())
    if abs(total - 1) > TOLERANCE:
        raise ValueError(f"the weights add up to {total!r}; they must add up to 1")


@functools.lru_cache(maxsize=256)
def _cumulative(payload: str) -> tuple[tuple[str, float], ...]:
    weights = weights_of(payload)
    return tuple(zip(weights, accumulate(weights.values()), strict=True))


def draw(payload: str, seed: int) -> str:
    """The member that plays one match.

    The draw depends on the payload as well as on the seed, and on neither in a way that shows in
    the member's own random choices: the member plays from the same seed, and so may a mixture
    among the members.

    Args:
      payload: of the mixture.
      seed: of its seat in the match (`Match.seat_seed`).

    Returns:
      the member's digest.

    Raises:
      ValueError: it is not the payload of a mixture.
    """
    cumulative = _cumulative(payload)
    text = f"mixture\x1f{seed}\x1f{payload}"
    bits = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    point = (bits >> (64 - _UNIFORM_BITS)) / (1 << _UNIFORM_BITS) * cumulative[-1][1]
    return next((digest for digest, bound in cumulative if point < bound), cumulative[-1][0])
