"""When the host gives up a block, whatever the box says meanwhile.

Limits on policies are the box's to keep; it speaks every two seconds while it does.  This is for
a box that speaks but does not come to an end, because the kernel below it hangs, say.
"""

from __future__ import annotations

from sandbox.values import EXTERNAL, Block, Limits

SPARE_SECONDS = 60.0
"""For everything that is no policy's doing."""
STARVED_FACTOR = 4.0
"""How many times longer than its limits a policy may take on a busy machine."""


def longest_block(block: Block) -> float:
    """Seconds that no healthy box exceeds, the host's own seats not counted.

    Every seat loads, computes and idles for as long as it may, one after the other, all of it
    STARVED_FACTOR times as slowly; in isolated blocks what was crowded out is played twice.
    """
    seats = sum(seat.program != EXTERNAL for match in block.matches for seat in match.seats)
    return longest_play(seats * (2 if block.isolate else 1), block.limits)


def longest_play(seats: int, limits: Limits) -> float:
    """The same for so many seats."""
    one = limits.load_seconds + limits.match_seconds + 2 * limits.match_wall_seconds
    return SPARE_SECONDS + STARVED_FACTOR * seats * one
