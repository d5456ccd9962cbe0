"""When the host gives up a block, whatever the box says meanwhile.

Limits on policies are the box's to keep; it speaks every two seconds while it does.  This is for
a box that speaks but does not come to an end, because the kernel below it hangs, say.
"""

from __future__ import annotations

from sandbox.values import EXTERNAL, Block

SPARE_SECONDS = 60.0
"""For everything that is no policy's doing."""
STARVED_FACTOR = 4.0
"""How many times longer than its limits a policy may take on a busy machine."""


def longest_block(block: Block) -> float:
    """Seconds that no healthy box exceeds, the host's own seats not counted.

    Every program compiles, and every seat loads, computes and idles, for as long as it may, one
    after the other, all of it STARVED_FACTOR times as slowly.
    """
    limits = block.limits
    seats = sum(seat.program != EXTERNAL for match in block.matches for seat in match.seats)
    computing = 2 * limits.load_seconds + limits.match_seconds  # compiling, loading, playing
    return SPARE_SECONDS + STARVED_FACTOR * seats * (computing + 3 * limits.match_idle_seconds)
