"""Facts about submissions: policy versions, their lineage, labels, statuses and aliases."""

from registry.errors import (
    AliasProtected,
    AmbiguousRef,
    MalformedName,
    MalformedSubmission,
    RegistryError,
    RegistryReadOnly,
    RegistryTooNew,
    RegistryUnavailable,
    UnknownParent,
    UnknownPolicy,
)
from registry.naming import check_name, digest_of
from registry.registry import Registry
from registry.values import (
    Alias,
    Parent,
    PolicyVersion,
    Registered,
    Status,
    StatusChange,
    Submission,
)

__all__ = [
    "Alias",
    "AliasProtected",
    "AmbiguousRef",
    "MalformedName",
    "MalformedSubmission",
    "Parent",
    "PolicyVersion",
    "Registered",
    "Registry",
    "RegistryError",
    "RegistryReadOnly",
    "RegistryTooNew",
    "RegistryUnavailable",
    "Status",
    "StatusChange",
    "Submission",
    "UnknownParent",
    "UnknownPolicy",
    "check_name",
    "digest_of",
]
