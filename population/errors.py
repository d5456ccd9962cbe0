"""What can go wrong with a run.  All are `ArenaError`s, so the command line shows them alike.

ArenaError
├── UsageFault
│   ├── UnknownRun    no run of that name is stored
│   └── RunExists     a run of that name is stored, with another configuration
├── RunBusy           another process is working on the run
└── RunsUnusable      the file of runs cannot be read or written
"""

from arena.errors import ArenaError, UsageFault


class UnknownRun(UsageFault):
    """No run of that name is stored."""


class RunExists(UsageFault):
    """The name belongs to a run with another configuration."""


class RunBusy(ArenaError):
    """Another process is working on this run."""


class RunsUnusable(ArenaError):
    """The file of runs cannot be used; the message says why."""
