"""What is being played in a home just now, for whoever looks on from another process.

Who plays keeps a small file in the home with how far it is, and holds its lock.  Locks end with
the process that holds them, so a file that was left behind by a kill tells nobody anything.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from registry.sqlite_file import is_held

FOLDER = "playing"
WRITE_SECONDS = 0.5
"""Between two writings of how far it is."""


@dataclass(frozen=True, slots=True)
class Playing:
    """Matches that somebody asked for, and how far they are.

    Attributes:
      game: what is played.
      done: matches that were played.
      wanted: of so many.
      seconds: since it began.
    """

    game: str
    done: int
    wanted: int
    seconds: float

    @property
    def rate(self) -> float:
        """Matches a second since it began; 0 before the first."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def left_seconds(self) -> float | None:
        """How long the rest takes at this rate; None before the first match."""
        return (self.wanted - self.done) / self.rate if self.rate else None


@contextmanager
def announced(
    home: Path, game: str, wanted: int, progress: Callable[[int, int], None]
) -> Iterator[Callable[[int, int], None]]:
    """Tells others that matches are played, for as long as the context is open.

    A home that does not take the file is no reason not to play: then nobody is told.

    Args:
      home: folder of the home.
      game: what is played.
      wanted: matches that are going to be played.
      progress: told of (matches done, matches to do) as well.

    Yields:
      What to call with (matches done, matches to do) instead.
    """
    file = home / FOLDER / f"{uuid.uuid4().hex}.json"
    descriptor = _opened(file) if wanted else None
    if descriptor is None:
        yield progress
        return
    started = written = time.monotonic()
    _write(descriptor, Playing(game, 0, wanted, 0.0))

    def tell(done: int, of: int) -> None:
        nonlocal written
        now = time.monotonic()
        if now - written >= WRITE_SECONDS:
            written = now
            _write(descriptor, Playing(game, done, of, now - started))
        progress(done, of)

    try:
        yield tell
    finally:
        with suppress(OSError):
            file.unlink()
            file.parent.rmdir()  # unless others play
        os.close(descriptor)


def now_playing(home: Path, game: str) -> list[Playing]:
    """What is being played of a game in a home just now, by any process."""
    found = []
    for file in (home / FOLDER).glob("*.json"):
        with suppress(OSError, ValueError, TypeError):
            if is_held(file):
                found.append(Playing(**json.loads(file.read_text())))
    return [one for one in found if one.game == game]


def _opened(file: Path) -> int | None:
    """A new file with its lock; what others left behind is cleared away first."""
    try:
        file.parent.mkdir(exist_ok=True)
        for old in file.parent.glob("*.json"):
            if not is_held(old):
                old.unlink()
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return descriptor


def _write(descriptor: int, playing: Playing) -> None:
    text = json.dumps(asdict(playing)).encode()
    with suppress(OSError):
        # In one go, and spaces behind it are no part of a JSON document.
        os.pwrite(descriptor, text.ljust(os.fstat(descriptor).st_size), 0)
