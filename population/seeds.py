"""Seeds that follow from what they are for, so that no choice depends on another's timing."""

from __future__ import annotations

import hashlib

_BITS = 63


def seed_of(*parts: object) -> int:
    """A seed of 63 bits from what it is for."""
    text = "\x1f".join(str(part) for part in ("csro", *parts))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _BITS)
