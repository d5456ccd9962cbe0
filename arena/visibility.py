"""What strangers may see: which policies stay unknown to them, and whose content they can read.

The hidden population of a tournament meets nobody before the final, so nobody may learn of it
before: pages and servers answer as if it were not there.  The content of a policy is open while
somebody takes part with it, and of what a CSRO run made.
"""

from __future__ import annotations

from dataclasses import replace

from registry import Registry
from registry.credits import KEEPER, RUNS, best_known, is_kept, keeps
from registry.naming import RESERVED_AUTHORS, author_of
from registry.values import Credit, PolicyVersion, Status, StatusChange


def hidden_digests(registry: Registry) -> frozenset[str]:
    """Digests of the policies that strangers may not know of, and names that they may not know.

    These are the hidden populations of all tournaments without a certificate, and what the operator
    registered for one that was not announced yet, or never was.  A policy that takes part under
    some name, that an author handed in and withdrew, or that a CSRO run tried, is no secret, even
    where a tournament names it: its absence would tell.  The name under which it is kept (written
    author/name@number) stays one, so nobody takes a registry with such a name for one without
    secrets.

    Raises:
      RegistryCorrupt: a tournament cannot be read.
      UnknownPolicy: a tournament names what is not in the registry.
    """
    pending: set[str] = set()
    certified: set[str] = set()
    for one in registry.tournaments():
        (certified if one.certificate else pending).update(one.hidden)
    ours = registry.find(author=KEEPER)
    kept = {one.digest for one in ours if one.status is Status.CANDIDATE} - certified
    found = registry.by_digests(pending | kept).values()
    unknown = {one.digest for one in found if not _is_known(one)}
    known = (one for one in (*found, *ours) if _is_known(one))
    names = {name.ref for one in known for name in one.credits if is_kept(name)}
    return frozenset(unknown | names)


def is_hidden(version: PolicyVersion, hidden: frozenset[str]) -> bool:
    """Whether strangers may not know of a version, under the name that it is seen by.

    Content that is known under another name is known by that one alone: the name under which it
    is kept would tell that a tournament has it in its hidden population.

    Args:
      version: under the name that was asked for.
      hidden: what `hidden_digests` found.
    """
    if version.digest in hidden:
        return True
    return is_kept(version) and _is_known(version)


def without_kept(version: PolicyVersion) -> PolicyVersion:
    """A version that is known, without the names under which its content is kept.

    Another one is as it is: whoever may know of it may know these names.
    """
    told = tuple(one for one in version.credits if not is_kept(one))
    if not told or not _is_known(version):
        return version
    seen = best_known(version, {one.ref for one in told}) if is_kept(version) else version
    return replace(seen, credits=told)


def history_without_kept(found: tuple[StatusChange, ...]) -> tuple[StatusChange, ...]:
    """The same of a version's whole history, oldest first."""
    now = {one.ref: one.status for one in found}
    if not any(_tells(status, author_of(ref)) for ref, status in now.items()):
        return found
    kept = {ref for ref, status in now.items() if keeps(status, author_of(ref))}
    return tuple(one for one in found if one.ref not in kept)


def shows_source(version: PolicyVersion) -> bool:
    """Whether strangers may read, download and compare a version's content.

    They may where it takes part under one of its names, or where a CSRO run tried it.  What is
    withdrawn or in quarantine keeps its scores and its history, and its content is not shown.
    Whether it is known at all is for `is_hidden` to say.
    """
    return _takes_part(version) or any(
        one.status is Status.CANDIDATE and one.author == RUNS for one in _names(version)
    )


def _takes_part(version: PolicyVersion) -> bool:
    return any(one.status is Status.QUALIFIED for one in _names(version))


def _is_known(version: PolicyVersion) -> bool:
    return any(_tells(one.status, one.author) for one in _names(version))


def _tells(status: Status, author: str) -> bool:
    """Whether a name is known to others: it takes part, or it is an author's who handed it in.

    Runs are authors' too, and what they tried is open.  What the arena itself has withdrawn, as an
    operator does to hide it, is not known.
    """
    handed_in = status is not Status.CANDIDATE and author not in RESERVED_AUTHORS
    return status is Status.QUALIFIED or handed_in or author == RUNS


def _names(version: PolicyVersion) -> tuple[PolicyVersion | Credit, ...]:
    return (version, *version.credits)
