"""The registry as somebody sees it who may not know a tournament's hidden population.

What is hidden is as unknown as what was never registered, to every method: so nobody can list it,
read it, play against it or put it into a mixture by another door.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Unpack

from arena.home import Home
from arena.visibility import hidden_digests, is_hidden
from registry import Registry, digest_of
from registry.errors import AmbiguousRef, UnknownPolicy
from registry.rights import Account, Role
from registry.search import Filters
from registry.values import PolicyVersion, StatusChange, Submission


@dataclass(frozen=True, slots=True)
class VeiledRegistry(Registry):
    """A registry without some versions.

    Attributes:
      hidden: their digests.
    """

    hidden: frozenset[str] = frozenset()

    def get(self, game: str | None, ref: str) -> PolicyVersion:
        """See `Registry.get`."""
        try:
            version = Registry.get(self, game, ref)
        except UnknownPolicy as error:
            raise UnknownPolicy(
                str(error) if not error.suggestions else _unknown(ref), ref, self._told(error)
            ) from None
        except AmbiguousRef:
            raise AmbiguousRef(f"{ref!r} means several policies: write more of it", ref) from None
        if is_hidden(version, self.hidden):
            raise UnknownPolicy(_unknown(ref), ref)
        return version

    def by_digests(self, digests: Iterable[str]) -> dict[str, PolicyVersion]:
        """See `Registry.by_digests`."""
        wanted = list(digests)
        for one in wanted:
            if one in self.hidden:
                raise UnknownPolicy(_unknown(one), one)
        return Registry.by_digests(self, wanted)

    def missing(self, submissions: Iterable[Submission]) -> list[Submission]:
        """See `Registry.missing`: who hands in what is hidden is served as if it were not there."""
        known = {digest_of(one.game, one.kind, one.payload): one for one in submissions}
        new = Registry.missing(self, known.values())
        return [one for digest, one in known.items() if digest in self.hidden or one in new]

    def find(
        self,
        game: str | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
        **filters: Unpack[Filters],
    ) -> tuple[PolicyVersion, ...]:
        """See `Registry.find`."""
        found = Registry.find(self, game, newest_first=newest_first, **filters)
        seen = [one for one in found if not is_hidden(one, self.hidden)]
        return tuple(seen[offset:] if limit is None else seen[offset : offset + limit])

    def count(self, game: str | None = None, **filters: Unpack[Filters]) -> int:
        """See `Registry.count`."""
        return len(self.find(game, **filters))

    def history(self, digest: str) -> tuple[StatusChange, ...]:
        """See `Registry.history`."""
        if digest in self.hidden:
            raise UnknownPolicy(_unknown(digest), digest)
        return Registry.history(self, digest)

    def parents(self, digest: str) -> tuple[PolicyVersion, ...]:
        """See `Registry.parents`."""
        return tuple(one for one in Registry.parents(self, digest) if one.digest not in self.hidden)

    def children(self, digest: str) -> tuple[PolicyVersion, ...]:
        """See `Registry.children`."""
        found = Registry.children(self, digest)
        return tuple(one for one in found if one.digest not in self.hidden)

    def _told(self, error: UnknownPolicy) -> tuple[str, ...]:
        """Suggestions that mean nothing hidden."""
        told = []
        for ref in error.suggestions:
            try:
                version = Registry.get(self, None, ref)
            except (UnknownPolicy, AmbiguousRef):
                continue
            if not is_hidden(version, self.hidden):
                told.append(ref)
        return tuple(told)


def _unknown(ref: str) -> str:
    return f"there is no policy {ref!r:.100}"


def as_seen_by(home: Home, account: Account, hidden: frozenset[str] | None = None) -> Home:
    """A home whose registry hides from an account what it may not know.

    Args:
      home: that is seen.
      account: who looks.
      hidden: what `hidden_digests` found, where somebody has asked it already.
    """
    if account.role is Role.OPERATOR:
        return home
    return as_strangers_see(home, hidden)


def as_strangers_see(home: Home, hidden: frozenset[str] | None = None) -> Home:
    """The same for whoever has no account, or one that tells nothing of him."""
    hidden = hidden_digests(home.registry) if hidden is None else hidden
    if not hidden:
        return home
    parts: dict[str, Any] = {one.name: getattr(home.registry, one.name) for one in fields(Registry)}
    made = replace(home, registry=VeiledRegistry(**parts, hidden=hidden))
    made.__dict__["store"] = home.store
    return made
