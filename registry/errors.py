"""What can go wrong with the registry, as one small tree.

    RegistryError
    ├── MalformedName         a name, alias or reference is not written as one can be
    ├── MalformedSubmission   a field of a submission cannot be stored
    │   └── UnknownParent     a parent is not in the registry
    ├── UnknownPolicy         nothing goes by that reference
    ├── AmbiguousRef          several versions go by that reference
    ├── AliasProtected        the alias may not be moved without saying so
    └── RegistryUnavailable   the database cannot be reached, read or written
        ├── RegistryReadOnly  it can be read, but not written
        └── RegistryTooNew    a newer version of this software wrote it

Whatever is not in this tree is a fault in our code.
"""

from __future__ import annotations


class RegistryError(Exception):
    """Root of the registry's errors; the message says what was wrong, where, what to do."""


class MalformedName(RegistryError):
    """A name, alias or reference is not written as one can be."""


class MalformedSubmission(RegistryError):
    """A field of a submission cannot be stored."""


class UnknownParent(MalformedSubmission):
    """A submission names a parent that is not in the registry."""


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
    """The alias is protected: moving or removing it must be asked for explicitly."""


class RegistryUnavailable(RegistryError):
    """The database cannot be reached, read or written; nothing was stored."""


class RegistryReadOnly(RegistryUnavailable):
    """The registry can be read, but not written."""


class RegistryTooNew(RegistryUnavailable):
    """A newer version of this software wrote the registry."""
