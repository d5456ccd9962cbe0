"""How much memory a box may hold where no container sets its bounds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LEAST_MIB = 256
MOST_MIB = 4096
_UNKNOWN_MIB = 2048


def memory_for_a_box() -> int:
    """Half of what is available now, in MiB, within bounds."""
    return max(LEAST_MIB, min(MOST_MIB, available_mib() // 2))


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
