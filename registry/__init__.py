"""Facts about submissions: policy versions with their lineage and status, authors, seasons."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.display import shown
    from registry.errors import (
        AliasProtected,
        AmbiguousRef,
        MalformedKey,
        MalformedName,
        MalformedSubmission,
        NameRefused,
        RegistryCorrupt,
        RegistryError,
        RegistryReadOnly,
        RegistryTooNew,
        RegistryUnavailable,
        SeasonConflict,
        UnknownAuthor,
        UnknownParent,
        UnknownPolicy,
        UnknownSeason,
    )
    from registry.naming import RESERVED_AUTHORS, check_name, digest_of, skeleton
    from registry.registry import Registry
    from registry.seasons import commitment_of
    from registry.values import (
        Alias,
        Author,
        Credit,
        Origin,
        Parent,
        PolicyVersion,
        Registered,
        Season,
        Spent,
        Status,
        StatusChange,
        Submission,
    )

_HOMES = {
    "Alias": "registry.values",
    "AliasProtected": "registry.errors",
    "AmbiguousRef": "registry.errors",
    "Author": "registry.values",
    "Credit": "registry.values",
    "MalformedKey": "registry.errors",
    "MalformedName": "registry.errors",
    "MalformedSubmission": "registry.errors",
    "NameRefused": "registry.errors",
    "Origin": "registry.values",
    "Parent": "registry.values",
    "PolicyVersion": "registry.values",
    "RESERVED_AUTHORS": "registry.naming",
    "Registered": "registry.values",
    "Registry": "registry.registry",
    "RegistryCorrupt": "registry.errors",
    "RegistryError": "registry.errors",
    "RegistryReadOnly": "registry.errors",
    "RegistryTooNew": "registry.errors",
    "RegistryUnavailable": "registry.errors",
    "Season": "registry.values",
    "SeasonConflict": "registry.errors",
    "Spent": "registry.values",
    "Status": "registry.values",
    "StatusChange": "registry.values",
    "Submission": "registry.values",
    "UnknownAuthor": "registry.errors",
    "UnknownParent": "registry.errors",
    "UnknownPolicy": "registry.errors",
    "UnknownSeason": "registry.errors",
    "check_name": "registry.naming",
    "commitment_of": "registry.seasons",
    "digest_of": "registry.naming",
    "shown": "registry.display",
    "skeleton": "registry.naming",
}

__all__ = [
    "Alias",
    "AliasProtected",
    "AmbiguousRef",
    "Author",
    "Credit",
    "MalformedKey",
    "MalformedName",
    "MalformedSubmission",
    "NameRefused",
    "Origin",
    "Parent",
    "PolicyVersion",
    "RESERVED_AUTHORS",
    "Registered",
    "Registry",
    "RegistryCorrupt",
    "RegistryError",
    "RegistryReadOnly",
    "RegistryTooNew",
    "RegistryUnavailable",
    "Season",
    "SeasonConflict",
    "Spent",
    "Status",
    "StatusChange",
    "Submission",
    "UnknownAuthor",
    "UnknownParent",
    "UnknownPolicy",
    "UnknownSeason",
    "check_name",
    "commitment_of",
    "digest_of",
    "shown",
    "skeleton",
]


def __getattr__(name: str) -> Any:
    """Loads what is asked for: values and names need no database."""
    if name not in _HOMES:
        raise AttributeError(f"module 'registry' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
