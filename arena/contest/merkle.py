"""One hash over many lines, from which each line can be shown to be in it.

The tree of RFC 6962 (section 2.1) over BLAKE2b with 256 bits: leaves and nodes are hashed with
different first bytes, so that no line can be taken for a part of the tree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def root_of(lines: Sequence[bytes]) -> str:
    """The root, 64 hexadecimal digits; of no lines, the hash of nothing."""
    level = [_hash(b"\0", line) for line in lines]
    if not level:
        return hashlib.blake2b(b"", digest_size=32).hexdigest()
    while len(level) > 1:
        paired = [_hash(b"\1", *level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        # One that has no other beside it goes up as it is.
        level = paired + level[len(paired) * 2 :]
    return level[0].hex()


def _hash(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()
