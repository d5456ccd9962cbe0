"""Under which of its names a version is seen."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from registry.values import Credit, PolicyVersion, Status

_BEST_FIRST = (Status.QUALIFIED, Status.CANDIDATE, Status.QUARANTINED, Status.YANKED)


def best_known(version: PolicyVersion, among: Container[str] | None = None) -> PolicyVersion:
    """A version under the first of its names that stands best.

    Args:
      version: under any of its names.
      among: references of names to choose from; all of them by default.
    """
    if len(version.credits) == 1:
        return version
    fitting = [one for one in version.credits if among is None or one.ref in among]
    return under(version, min(fitting, key=lambda one: _BEST_FIRST.index(one.status)))


def under(version: PolicyVersion, credit: Credit) -> PolicyVersion:
    """The same version under one of its names."""
    return replace(
        version,
        name=credit.name,
        number=credit.number,
        status=credit.status,
        status_reason=credit.status_reason,
        description=credit.description,
        created=credit.created,
    )


def own(version: PolicyVersion | None, author: str) -> PolicyVersion | None:
    """The version under the name that an author has for it; None without one."""
    if version is not None:
        for credit in version.credits:
            if credit.author == author:
                return under(version, credit)
    return None
