"""Under which of its names a version is seen, and which of them are told to nobody."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from registry.values import Credit, PolicyVersion, Status

KEEPER = "operator"
"""In whose name the arena keeps content for a tournament."""
RUNS = "csro"
"""In whose name runs register what their oracles tried, which is open."""
_BEST_FIRST = (Status.QUALIFIED, Status.CANDIDATE, Status.QUARANTINED, Status.YANKED)


def keeps(status: Status, author: str) -> bool:
    """Whether a name of that status and author is told to nobody; see `is_kept`."""
    if author == KEEPER:
        return status is not Status.QUALIFIED
    return status is Status.CANDIDATE and author != RUNS


def is_kept(name: PolicyVersion | Credit) -> bool:
    """Whether content is kept under a name: it is told to nobody, and takes no part.

    So are the operator's names for the hidden population of a tournament, and those of authors
    whose policy the operator made a candidate, to hide it.
    """
    return keeps(name.status, name.author)


def best_known(version: PolicyVersion, among: Container[str] | None = None) -> PolicyVersion:
    """A version under the first of its names that stands best.

    A name under which content is kept stands behind all others: whoever else handed it in would
    learn of it when the own name is withdrawn.

    Args:
      version: under any of its names.
      among: references of names to choose from; all of them by default.
    """
    if len(version.credits) == 1:
        return version
    fitting = [one for one in version.credits if among is None or one.ref in among]
    return under(version, min(fitting, key=_standing))


def as_it_stands(version: PolicyVersion) -> PolicyVersion:
    """A version under the oldest of its names that stand best, be it one that is kept."""
    return under(
        version,
        min(version.credits, key=lambda one: (_BEST_FIRST.index(one.status), one.created)),
    )


def _standing(name: Credit) -> tuple[bool, int]:
    return is_kept(name), _BEST_FIRST.index(name.status)


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
