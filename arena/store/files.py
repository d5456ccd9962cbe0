"""What lies at the store's paths, looked at before anybody opens it.

To open a named pipe waits for its other end for ever, and to open a device may do anything.  A
symbolic link gives a store a second name, and the lock goes by the name: two programs could write
at once.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from arena.store.errors import StoreCorrupt, StoreUnwritable

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB puts behind a database's name to name its logs."""
SPILL = ".tmp"
"""And its folder for what does not fit into memory."""


class Identity(NamedTuple):
    """Which bytes a file has, as far as the file system tells without reading them."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class State(NamedTuple):
    """The same of a store and of its logs."""

    store: Identity
    logs: tuple[Identity | None, ...]

    @property
    def size(self) -> int:
        """Bytes of all together."""
        return self.store.size + sum(log.size for log in self.logs if log is not None)

    def of_same_file(self, other: State) -> bool:
        """Whether the other is a state of the same file, which may have been written to since."""
        return self.store[:2] == other.store[:2]


def is_file(path: Path) -> bool:
    """Whether there is a regular file; False where there is nothing.

    Raises:
      StoreCorrupt: there is something else.
      StoreUnwritable: the folder may not be entered.
    """
    found = _look(path)
    if found is None:
        return False
    if stat.S_ISREG(found.st_mode):
        return True
    kind = next((name for test, name in _KINDS if test(found.st_mode)), "no file")
    if stat.S_ISLNK(found.st_mode):
        cure = "put the file itself there, or link to its folder instead"
    else:
        cure = "move it away"
    raise StoreCorrupt(f"{path} is {kind} where the match store expects a file: {cure}")


def beside(path: Path, ending: str) -> Path:
    """The path of a side file."""
    return path.with_name(path.name + ending)


def state_of(path: Path) -> State | None:
    """The state of the store at a path; None where there is none.

    Raises:
      StoreCorrupt: the store, or what lies beside it under a name that DuckDB uses, is no file.
      StoreUnwritable: the folder may not be entered.
    """
    store = _identity(path)
    if store is None:
        return None
    spill = _look(beside(path, SPILL))
    if spill is not None and not stat.S_ISDIR(spill.st_mode):
        raise StoreCorrupt(
            f"{beside(path, SPILL)} is no folder, and DuckDB keeps there what does not fit into "
            f"memory: move it away"
        )
    return State(store, tuple(_identity(beside(path, ending)) for ending in LOGS))


def _identity(path: Path) -> Identity | None:
    if not is_file(path):
        return None
    found = path.lstat()
    times = found.st_mtime_ns, found.st_ctime_ns
    return Identity(found.st_dev, found.st_ino, found.st_size, *times)


def _look(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreUnwritable(
            f"{path} cannot be looked at ({error.strerror}): check the permissions of its folder"
        ) from error
