"""The arena's own errors.  What an entrant does wrong is never one of them (see `Termination`).

    ArenaError
    ├── UsageFault        the request itself cannot be carried out as it stands (exit code 2)
    │   ├── UnknownGame
    │   └── SeedsUnknown  a match from before seeds were secret cannot be played again
    ├── HomeUnusable      the home cannot be created, read or written
    │   └── HomeTooNew    a newer version of the arena wrote it
    ├── StoreError        the match store cannot be used (see arena.store.errors)
    ├── ClusterUnavailable  the machines that were to play cannot be reached or used
    └── WorkerDied        a worker process of ours ended in the middle of its work

The registry and the sandbox have roots of their own (`RegistryError`, `SandboxError`) because
they do not know the arena; the command line shows all three the same way.
"""


class ArenaError(Exception):
    """Root of the arena's errors."""


class UsageFault(ArenaError):
    """The request cannot be carried out as it stands; the message says what to change."""


class UnknownGame(UsageFault):
    """There is no game of that name."""


class SeedsUnknown(UsageFault):
    """The seeds of a match are not known any more, so it can be retold but not played again."""


class HomeUnusable(ArenaError):
    """The home folder cannot be used; the message says why and what to do."""


class HomeTooNew(HomeUnusable):
    """The home was written by a newer version."""


class BackupUnusable(ArenaError):
    """A copy of a home could not be written, or is not what was written."""


class ClusterUnavailable(ArenaError):
    """The cluster cannot be reached, or none of its machines can play; the message says why."""


class WorkerDied(ArenaError):
    """A worker process ended unexpectedly; what it was playing was not stored."""
