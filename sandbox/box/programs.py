"""Compiles every program once, in a sealed worker of its own that runs nothing of it.

Compiling can take as long and as much memory as its author likes, so it is no business of the
referee's.  What comes out goes to that program's own workers and to nobody else.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MOST_BYTES = 64 * 1024 * 1024
"""Compiled programs that are kept."""
LARGEST_PROGRAM = 16 * 1024 * 1024
"""Bytes of one compiled program; a source of the largest size makes a tenth of that."""


@dataclass(frozen=True)
class Compiled:
    """What came of compiling a source.

    Attributes:
      code: marshalled; empty where there was a fault.
      fault: its code, or 0.
      text: for the author.
    """

    code: bytes = b""
    fault: int = 0
    text: str = ""


class Programs:
    """The programs that were compiled last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Compiled] = OrderedDict()
        self._bytes = 0

    def get(self, source: bytes) -> Compiled | None:
        """What a source compiled to, if it is still here."""
        if source in self._kept:
            self._kept.move_to_end(source)
        return self._kept.get(source)

    def keep(self, source: bytes, compiled: Compiled) -> None:
        """Keeps a program that did compile, and forgets the oldest where it gets too much."""
        if compiled.fault or source in self._kept:
            return
        self._kept[source] = compiled
        self._bytes += len(source) + len(compiled.code)
        while self._bytes > MOST_BYTES:
            oldest, forgotten = self._kept.popitem(last=False)
            self._bytes -= len(oldest) + len(forgotten.code)
