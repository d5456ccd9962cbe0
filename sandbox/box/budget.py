"""The memory of all workers of a box together.

Every worker has a limit of its own, but a dozen workers that each stay just within theirs would
fill the machine, and then it is the kernel that chooses what to kill: the referee, or gVisor.
So the watch adds up what the workers hold, and ends the largest before it comes to that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .crew import Worker

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024


def resident_bytes(pid: int) -> int:
    """Memory that a process holds right now; 0 once it is gone, or where nobody tells."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


class Budget:
    """What all workers of a box may hold together.

    A worker is charged for what it holds beyond what it shared with its zygote when it was
    forked.

    Args:
      mebibytes: for all workers; None is no limit.

    Attributes:
      tight: more than half of it was in use at the last look, so look more often.
    """

    def __init__(self, mebibytes: int | None) -> None:
        self._mebibytes = mebibytes
        self.tight = False

    def excess(self, workers: Sequence[Worker]) -> list[tuple[Worker, str]]:
        """The largest workers, as many as have to go, each with the text for its author."""
        if self._mebibytes is None:
            return []
        here = [worker for worker in workers if not worker.gone and worker.verdict is None]
        held = [max(resident_bytes(w.pid) - w.resident_before, 0) for w in here]
        total, most = sum(held), self._mebibytes * _MIB
        self.tight = 2 * total > most
        found = []
        for size, _, worker in sorted(zip(held, range(len(here)), here, strict=True), reverse=True):
            if total <= most:
                break
            total -= size
            text = (
                f"all policies in the sandbox together held more than {self._mebibytes} MiB of "
                f"memory, and this one the most ({size // _MIB} MiB)"
            )
            found.append((worker, text))
        return found
