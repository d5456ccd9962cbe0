"""Whose a container or a folder is, so that what a killed process left behind can be told.

A process number alone does not say it: numbers come around again.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from later ones of the same number.

    Attributes:
      machine: name of the host, which may share its Docker daemon with others.
      boot: of that machine, since when process numbers mean something.
      namespace: of process numbers, for arenas that run in containers themselves.
      process: number of the process.
      started: its start time in clock ticks since boot.
    """

    machine: str
    boot: str
    namespace: str
    process: int
    started: str

    @classmethod
    def current(cls) -> Owner:
        """This process."""
        process = os.getpid()
        return cls(platform.node(), _boot(), _namespace(), process, _started(process))

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The inverse of `text`; None for anything else, which is then nobody's orphan."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def text(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def is_certainly_gone(self) -> bool:
        """Whether this machine can tell that the process has ended."""
        if (self.machine, self.namespace) != (platform.node(), _namespace()):
            return False
        return self.boot != _boot() or self.started != _started(self.process)


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _started(process: int) -> str:
    """Start time of a process; "" where there is none.  Without /proc, only whether it lives."""
    if not Path("/proc/self/stat").exists():
        return "alive" if _is_alive(process) else ""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    # The second field is a name in brackets, which may itself hold brackets and spaces.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in ("Z", "X") else fields[19]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
