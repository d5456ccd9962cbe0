"""The arena's own errors.  What an entrant does wrong is never one of them (see `Termination`).

    ArenaError
    ├── UsageFault        the request itself cannot be carried out as it stands (exit code 2)
    │   ├── UnknownGame
    │   ├── BadRequest    what was sent to a server is no request (see arena.wire)
    │   └── SeedsUnknown  a match from before seeds were secret cannot be played again
    ├── HomeUnusable      the home cannot be created, read or written
    │   └── HomeTooNew    a newer version of the arena wrote it
    ├── StoreError        the match store cannot be used (see arena.store.errors)
    ├── ClusterUnavailable  the machines that were to play cannot be reached or used
    ├── ServerError       an arena behind an address (arena.remote) did not do it
    │   ├── ServerUnreachable  it does not answer
    │   ├── NotAllowed    without a token, or by another's, or not in this role
    │   ├── QuotaSpent    the author has used up what one may use in a day
    │   ├── VersionMismatch  client and server do not speak the same language
    │   └── ServerFault   the server itself failed; its log says how
    └── WorkerDied        a worker process of ours ended in the middle of its work

The registry and the sandbox have roots of their own (`RegistryError`, `SandboxError`) because
they do not know the arena; the command line, the pages and servers tell all three (`KNOWN`) in
the same way.
"""

import enum
from typing import TypeVar

from registry.errors import RegistryError
from sandbox.errors import SandboxError

_Choice = TypeVar("_Choice", bound=enum.StrEnum)


class ArenaError(Exception):
    """Root of the arena's errors."""


KNOWN = (ArenaError, RegistryError, SandboxError)
"""Whatever is not below these is a fault in our code, of which nobody outside is told more."""


class UsageFault(ArenaError):
    """The request cannot be carried out as it stands; the message says what to change."""


class UnknownGame(UsageFault):
    """There is no game of that name."""


class BadRequest(UsageFault):
    """What was sent is no request that the server knows; the message says where it is not."""


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


class ServerError(ArenaError):
    """An arena behind an address did not do what was asked of it."""


class ServerUnreachable(ServerError):
    """The server does not answer, or its answer is none of an arena's."""


class NotAllowed(ServerError):
    """Who asks has no token, or one that fits no account, or a role that may not do this."""


class QuotaSpent(ServerError):
    """An author has used up what one may use in a day; the message says when there is more."""


class VersionMismatch(ServerError):
    """Client and server do not speak the same language; the message says which is older."""


class ServerFault(ServerError):
    """The server failed in what it was asked; its log says how."""


def one_of(choices: type[_Choice], name: str) -> _Choice:
    """The choice of that name.

    Raises:
      UsageFault: there is none.
    """
    try:
        return choices(name)
    except ValueError:
        raise UsageFault(f"there is no {name!r}; there are {', '.join(choices)}") from None
