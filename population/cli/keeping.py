"""Where runs are kept: in the home, or beside whoever runs CSRO against a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from arena.cli.session import Session
from arena.errors import UsageFault

if TYPE_CHECKING:
    from population.runs import Runs

FOLDER = "CSRO_RUNS"
"""Environment variable: the folder of runs against servers."""
DEFAULT = "csro-runs"


def runs_of(session: Session) -> Runs:
    """The runs of a home.

    Those against a server are kept on this machine, in a folder for each server: a run's journal of
    model calls is its owner's.  The matches and programs are the server's.

    Raises:
      RunsUnusable: they cannot be read.
      UsageFault: there is no folder for them, and none can be made.
    """
    from population.runs import Runs

    if session.server is None:
        return Runs(session.home_path)
    folder = Path(os.environ.get(FOLDER) or DEFAULT) / urlsplit(session.server).netloc
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageFault(
            f"the folder {folder} for runs cannot be made ({error.strerror}): name another with "
            f"{FOLDER}"
        ) from error
    return Runs(folder)
