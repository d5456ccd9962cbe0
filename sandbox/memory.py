"""How much memory a box may hold where no container sets its bounds, and whether it is enough."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from sandbox.values import Limits

LEAST_MIB = 256
MOST_MIB = 4096
_UNKNOWN_MIB = 2048


def memory_for_a_box() -> int:
    """A box's share of what is available now, in MiB, within bounds.

    There is one box a processor core at most (see `cores.py`), and each has the same share; a
    single core's box leaves half of it to the rest of the machine.
    """
    return max(LEAST_MIB, min(MOST_MIB, available_mib() // max(_cores(), 2)))


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def too_little(memory_mib: int | None) -> str:
    """What the user of a box has to know who may run out of memory; "" where nobody can.

    Isolated matches are played so many at a time that all policies can have what they may have
    (`Limits.memory_mib`).  Where that is too much for one match, one is played at a time all
    the same: it is the machine that is too small, not the policies that are too large.
    """
    wanted = 2 * Limits().memory_mib
    if memory_mib is None or memory_mib >= wanted:
        return ""
    return (
        f"the sandbox may hold {memory_mib} MiB, but the two policies of a match may want "
        f"{wanted} MiB; matches are played one at a time, and if the machine runs out of memory "
        "it ends one of them: free some memory"
    )


def available_mib() -> int:
    """What this machine, or the control group that we are in, has left to give."""
    found = [_UNKNOWN_MIB]
    with suppress(OSError, ValueError, IndexError):
        (line,) = (
            line
            for line in Path("/proc/meminfo").read_text().splitlines()
            if line.startswith("MemAvailable:")
        )
        found = [int(line.split()[1]) // 1024]
    group = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # "max" is no number, and no limit
        most = int((group / "memory.max").read_text())
        used = int((group / "memory.stat").read_text().split()[1])  # "anon": without caches
        found.append(max(most - used, 0) // 2**20)
    return min(found)
