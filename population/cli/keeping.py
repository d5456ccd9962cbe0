"""Where commands find runs, and where they leave what they write about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.session import Session
from arena.errors import UsageFault

if TYPE_CHECKING:
    from population.runs import Runs


def runs_of(session: Session) -> Runs:
    """The runs of a home, or those against a server (`population.keeping`).

    Raises:
      RunsUnusable: they cannot be read.
      UsageFault: there is no folder for them, and none can be made.
    """
    if session.server is not None:
        from population.keeping import runs_against

        return runs_against(session.server)
    from population.runs import Runs

    return Runs(session.home_path)


def folders_for(*folders: Path | None) -> None:
    """Makes the folders that are asked for, before what goes into them takes its time.

    Raises:
      UsageFault: one cannot be made.
    """
    for folder in filter(None, folders):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageFault(
                f"the folder {folder} cannot be made ({error.strerror}): name another place"
            ) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """For what is written to a place that the user named.

    Raises:
      UsageFault: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise UsageFault(
            f"{error.filename or path} cannot be written ({error.strerror}): name another place"
        ) from error
