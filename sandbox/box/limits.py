"""What workers may use, and the faults of those that use more."""

from __future__ import annotations

import math
from dataclasses import dataclass


class BoxBroken(Exception):
    """The box itself failed; whatever was being played is void."""


class WorkerFault(Exception):
    """A worker can play no more.

    Attributes:
      code: one of the codes of the referee (`frames.FAULT_NAMES`).
      text: for the author.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Limits:
    """What one instance may use; fields as in `sandbox.values.Limits`."""

    source_bytes: int
    load_seconds: float
    act_seconds: float
    match_seconds: float
    match_idle_seconds: float
    memory_mib: int
    message_chars: int

    def memory_bytes(self, instances: int) -> int:
        """Address space of a worker: as much for every instance as it would have alone."""
        return self.memory_mib * 1024 * 1024 * instances

    def shared(self, seconds: float, instances: int) -> float:
        """A time limit of one call, for a call that many instances answer together.

        Tighter than the sum of their limits: what exceeds it is played again one by one.
        """
        return seconds * (1 + (instances - 1) / 16)

    def match_cpu(self, instances: int) -> float:
        """Processor time for all calls of a worker."""
        return self.match_seconds * instances

    def whole_cpu(self, instances: int) -> int:
        """Processor time for all that a worker does, in whole seconds."""
        return math.ceil(self.shared(self.load_seconds, instances) + self.match_cpu(instances))
