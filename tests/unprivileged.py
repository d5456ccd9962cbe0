"""What a user without rights meets: root may write everything, whatever the mode says."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A folder that other users can reach (pytest's own cannot be)."""
    path = Path(tempfile.mkdtemp(prefix="arena-registry-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        path.chmod(0o755)
        shutil.rmtree(path)


def in_child(act: Callable[[], object]) -> str:
    """What the function returns or raises, as text, in a process without root's privileges."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Forking a process with threads.
        child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer = str(act())
        except BaseException as error:  # noqa: BLE001 - it must not return into pytest
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer
