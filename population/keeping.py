"""Where runs against a server are kept; others are in their home."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from arena.errors import UsageFault
from population.runs import Runs

FOLDER = "CSRO_RUNS"
"""Environment variable: the folder of runs against servers."""
DEFAULT = "csro-runs"


def runs_against(address: str) -> Runs:
    """The runs against a server, in a folder of this machine for each server.

    A run's journal of model calls is its owner's.  The matches and programs are the server's.

    Raises:
      RunsUnusable: they cannot be read.
      UsageFault: there is no folder for them, and none can be made.
    """
    folder = Path(os.environ.get(FOLDER) or DEFAULT) / urlsplit(address).netloc
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageFault(
            f"the folder {folder} for runs cannot be made ({error.strerror}): name another with "
            f"{FOLDER}"
        ) from error
    return Runs(folder)
