"""What can go wrong with the registry, as one small tree.

    RegistryError
    ├── MalformedName         a name, alias or reference is not written as one can be
    │   └── NameRefused       it is the arena's own, or a reader would take it for another's
    ├── MalformedSubmission   a field of a submission cannot be stored
    │   └── UnknownParent     a parent is not in the registry
    ├── UnknownStatus         no version can have that status
    ├── UnknownPolicy         nothing goes by that reference
    ├── AmbiguousRef          several versions go by that reference
    ├── AliasProtected        the alias may not be moved without saying so
    ├── UnknownAuthor         nobody of that name has a version or a token
    ├── TokenRefused          a token that is somebody's opens nothing now
    │   ├── TokenExpired      its time is over
    │   └── AccountDisabled   the operator has shut the account
    ├── InviteRefused         a code invites nobody (any more)
    ├── MalformedKey          a season's key does not have the length of one
    ├── UnknownSeason         there is no season of that number, or none to close
    ├── SeasonConflict        another key than the one given is in force
    ├── UnknownTournament     there is no tournament of that name
    ├── TournamentConflict    a tournament is not where that can be done to it
    └── RegistryUnavailable   the database cannot be reached, read or written
        ├── RegistryReadOnly  it can be read, but not written
        ├── RegistryTooNew    a newer version of this software wrote it
        └── RegistryCorrupt   what it holds is not what was stored

Whatever is not in this tree is a fault in our code.
"""

from __future__ import annotations


class RegistryError(Exception):
    """Root of the registry's errors; the message says what was wrong, where, what to do."""


class MalformedName(RegistryError):
    """A name, alias or reference is not written as one can be."""


class NameRefused(MalformedName):
    """A name is the arena's own, or a reader would take it for another author's."""


class MalformedSubmission(RegistryError):
    """A field of a submission cannot be stored."""


class UnknownParent(MalformedSubmission):
    """A submission names a parent that is not in the registry."""


class UnknownStatus(RegistryError):
    """No version can have that status; the message lists those that there are."""


class UnknownPolicy(RegistryError):
    """Nothing goes by that reference.

    Attributes:
      ref: the reference as it was given.
      suggestions: references that read like it and do exist, nearest first.
    """

    def __init__(self, message: str, ref: str = "", suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ref = ref
        self.suggestions = suggestions


class AmbiguousRef(RegistryError):
    """Several versions go by that reference.

    Attributes:
      ref: the reference as it was given.
      candidates: what it could mean, each as text that names one version.
    """

    def __init__(self, message: str, ref: str = "", candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ref = ref
        self.candidates = candidates


class AliasProtected(RegistryError):
    """The alias is protected: moving it must be asked for explicitly."""


class UnknownAuthor(RegistryError):
    """Nobody of that name has registered a version or made a token."""


class TokenRefused(RegistryError):
    """A token that is somebody's opens nothing now."""


class TokenExpired(TokenRefused):
    """The token's time is over; the operator can make another one."""


class AccountDisabled(TokenRefused):
    """The operator has shut the account that the token belongs to."""


class InviteRefused(RegistryError):
    """A code invites nobody, or nobody any more.  The message does not hold it."""


class MalformedKey(RegistryError):
    """A season's key does not have the length of one.  The message never holds the key."""


class UnknownSeason(RegistryError):
    """There is no season of that number, or none that could be closed."""


class SeasonConflict(RegistryError):
    """Another key than the one given is in force.  The message holds neither."""


class UnknownTournament(RegistryError):
    """There is no tournament of that name."""


class TournamentConflict(RegistryError):
    """A tournament is not where that can be done to it; the message says where it is."""


class RegistryUnavailable(RegistryError):
    """The database cannot be reached, read or written; nothing was stored."""


class RegistryReadOnly(RegistryUnavailable):
    """The registry can be read, but not written."""


class RegistryTooNew(RegistryUnavailable):
    """A newer version of this software wrote the registry."""


class RegistryCorrupt(RegistryUnavailable):
    """What the registry holds is not what was stored: the file was damaged or edited."""


class RegistryNotEmpty(RegistryError):
    """A registry that something is to be copied into holds something already."""
