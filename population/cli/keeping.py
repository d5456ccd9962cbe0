"""The runs that a command is about: those of its home, or of its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.session import Session

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
