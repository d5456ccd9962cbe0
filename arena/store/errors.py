"""What can go wrong with the match store, and how DuckDB's errors are read.

    StoreError (an ArenaError)
    ├── StoreBusy         somebody else held the store for too long
    ├── StoreFull         the disk (or a quota, or a file size limit) is full
    ├── StoreUnwritable   the file or its folder may not be written, or not be read
    ├── StoreCorrupt      the file is damaged, or is no match store at all
    └── StoreTooNew       a newer version of the arena wrote it

All of them leave what was stored as it was.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from arena.errors import ArenaError


class StoreError(ArenaError):
    """The match store could not do what it was asked to."""


class StoreBusy(StoreError):
    """Another process held the store for longer than the timeout."""


class StoreFull(StoreError):
    """There is no room for what was to be stored; nothing of it was."""


class StoreUnwritable(StoreError):
    """The permissions of the file or of its folder do not allow the access."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not a match store."""


class StoreTooNew(StoreError):
    """The file was written by a newer version of the arena, or of DuckDB."""


_SHOWN_CHARS = 400

CURE = (
    "Restore it from a backup, or move it away, and with it the matches.mark beside it, to start "
    "an empty one (every match can be played again)"
)
"""What to do about a damaged store."""

_DAMAGED = f"the match store {{path}} is damaged or is not a match store. {CURE}"

# DuckDB reports trouble with the file under several exception classes: a full
# disk in a commit is a TransactionException, damage may be a plain Error.  So the text decides.
_READINGS: tuple[tuple[type[StoreError], tuple[str, ...], str], ...] = (
    (
        StoreFull,
        ("No space left on device", "File too large", "Disk quota exceeded"),
        "there is no room left for the match store {path}; nothing of this batch was stored. "
        "Make room and run again: what was stored before is kept",
    ),
    (
        StoreUnwritable,
        ("Permission denied", "Read-only file system", "Operation not permitted"),
        "the match store {path} cannot be opened: check the permissions of the file and its folder",
    ),
    (
        StoreTooNew,
        ("newer version", "newer DuckDB", "storage version"),
        "the match store {path} was written by a newer DuckDB: update this installation",
    ),
    (
        StoreBusy,
        ("Could not set lock on file", "Conflicting lock is held"),
        "another program opened the match store {path} without the arena's lock: close it",
    ),
    (
        StoreBusy,
        ("Unique file handle conflict",),
        "this process still reads what it asked the match store {path} for: let go of the answer",
    ),
    (
        StoreUnwritable,
        ("Cannot open file", "Cannot open directory", "Failed to create directory"),
        "the match store {path}, or a file beside it, cannot be opened",
    ),
    (
        StoreCorrupt,
        (
            "not a valid DuckDB database file",
            "Could not read enough bytes",
            "orrupt",
            "does not match stored checksum",
            "Failed to load metadata",
            "erialization",
            "deserialize",
            "Invalid unicode",
        ),
        _DAMAGED,
    ),
)

_OF_THE_FILE = (
    duckdb.IOException,
    duckdb.DataError,
    duckdb.InternalError,
    duckdb.FatalException,
    duckdb.SerializationException,
    UnicodeDecodeError,
)
"""What good questions meet in bad files only, whatever the text."""


def shown(text: str) -> str:
    """What a file says, fit for a message: on one line, short, and without control characters."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def reading_of(error: Exception, path: Path, *, opening: bool) -> StoreError | None:
    """The store's own error for one of DuckDB's, or None where the question is to blame.

    Args:
      error: of DuckDB, or of Python where a text in the file is none.
      path: of the store.
      opening: whether nobody has asked anything yet: then it cannot be the question.
    """
    text = str(error)
    told = f"(DuckDB says: {shown(text)})"
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(f"the memory does not suffice to use the match store {path} {told}")
    for kind, signs, explanation in _READINGS:
        if any(sign in text for sign in signs):
            return kind(f"{explanation.format(path=path)} {told}")
    if opening or isinstance(error, _OF_THE_FILE) or type(error) is duckdb.Error:
        return StoreCorrupt(f"{_DAMAGED.format(path=path)} {told}")
    return None
