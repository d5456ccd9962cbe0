"""The memory of all workers of a box together.

Every worker has a limit of its own, but a dozen workers that each stay just within theirs would
fill the machine, and then it is the kernel that chooses what to kill: the referee, or gVisor.

* Isolated matches are played so many at a time that the limits of all their workers fit
  together.  Whatever the others do, each can have what it may have, and nobody is ended for
  another's sake.  Where not even one match fits, one is played at a time all the same.
* In lockstep the workers of a block have to be there at once.  The watch adds up what they hold,
  and once that is more than the box has, ends the largest until the rest fits: only workers that
  hold more than their fair share, the box's memory divided by the workers that are left.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .hired import Worker

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024


def resident_bytes(pid: int) -> int:
    """Memory that a process holds right now; 0 once it is gone, or where nobody tells."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def held_bytes(worker: Worker) -> int:
    """What a worker holds beyond what it shared with its zygote when it was forked."""
    return max(resident_bytes(worker.pid) - worker.resident_before, 0)


class BoxMemory:
    """What all workers of a box may hold together.

    A worker is charged for `held_bytes`.

    Args:
      mebibytes: for all workers; None is no limit.

    Attributes:
      tight: more than half of it was in use at the last look, so look more often.
    """

    def __init__(self, mebibytes: int | None) -> None:
        self._mebibytes = mebibytes
        self.tight = False

    def workers_at_once(self, memory_mib: int, most: int) -> int:
        """How many workers with that limit fit together, but two at least and `most` at most."""
        if self._mebibytes is None:
            return most
        return max(min(self._mebibytes // memory_mib, most), 2)

    def excess(self, workers: Sequence[Worker]) -> list[tuple[Worker, str]]:
        """The largest workers, as many as have to go, each with the text for its author."""
        if self._mebibytes is None:
            return []
        here = [worker for worker in workers if not worker.gone and worker.verdict is None]
        held = [held_bytes(worker) for worker in here]
        for worker, size in zip(here, held, strict=True):
            worker.held = size  # once it is killed, nobody can tell any more
        total, most = sum(held), self._mebibytes * _MIB
        self.tight = 2 * total > most
        found = []
        order = sorted(zip(held, range(len(here)), here, strict=True), reverse=True)
        for gone, (size, _, worker) in enumerate(order):
            # While it is too much for all, the largest holds more than an even share of it.
            if total <= most:
                break
            total -= size
            text = (
                f"all policies in the sandbox together held more than {self._mebibytes} MiB of "
                f"memory, and this one the most ({size // _MIB} MiB; an even share is "
                f"{self._mebibytes // (len(here) - gone)} MiB)"
            )
            found.append((worker, text))
        return found
