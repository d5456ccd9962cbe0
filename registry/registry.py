"""The registry: every policy version that was ever handed in, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import naming, refs, rows
from registry.aliases import Aliases
from registry.authors import Authors, check_authors, note_authors
from registry.database import Database
from registry.errors import UnknownParent, UnknownPolicy
from registry.schema import ParentRow, VersionRow
from registry.search import Filters, conditions
from registry.seasons import Seasons
from registry.spending import Spending
from registry.statuses import Statuses
from registry.values import PolicyVersion, Registered, Submission


@dataclass(frozen=True, slots=True)
class Registry(Statuses, Aliases, Authors, Spending, Seasons):
    """Submit, get and find policy versions.  Safe for use by threads and processes at once.

    A version's identity is the digest of its game, kind and payload.  "author/name@number" is a
    label, unique within a game; numbers count from 1 and are never used again.  Nothing but a
    version's status ever changes, and aliases move.  Whatever is read is held against its digest.

    Every method may raise `RegistryUnavailable`, and as one kind of it `RegistryCorrupt`.
    """

    @classmethod
    def open(cls, target: str | Path, *, read_only: bool = False) -> Self:
        """Opens a registry; makes it, or brings its tables up to date, where that is needed.

        A registry that is there but may not be written can be read all the same: whatever
        writes raises `RegistryReadOnly`.

        Args:
          target: path of an SQLite file, or an sqlite:/// or postgresql:// URL.
          read_only: refuse to write in any case, and make nothing.

        Raises:
          RegistryTooNew: a newer version of this software wrote it.
          RegistryReadOnly: it has to be made or brought up to date, and cannot be written.
          RegistryUnavailable: it cannot be used for another reason.
        """
        return cls(Database.open(target, read_only=read_only))

    def close(self) -> None:
        """Closes kept connections.  Idempotent."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(self, submission: Submission, *, reserved: bool = False) -> Registered:
        """Registers a version, or returns the one with the same content.

        Args:
          submission: what is handed in, by the operator's hand: who may hand in something in an
            author's name is for the caller to ask (`token_fits`).
          reserved: for the arena's own entrants: let the author be a reserved one.

        Raises:
          MalformedName: the name is not "author/name".
          NameRefused: the author is the arena's own, or would be taken for another one, and
            `reserved` is not set.
          MalformedSubmission: another field cannot be stored, or a parent is unknown.
        """
        return self.submit_many([submission], reserved=reserved)[0]

    def submit_many(
        self, submissions: Sequence[Submission], *, reserved: bool = False
    ) -> tuple[Registered, ...]:
        """Registers many in one transaction: all of them, or none.

        What was registered already, or stands twice in the sequence, is returned as it is; its
        status, too, stays what it was.

        Args:
          submissions: what is handed in.
          reserved: as for `submit`.

        Raises:
          MalformedName: a name is not "author/name".
          NameRefused: as for `submit`.
          MalformedSubmission: another field cannot be stored, or a parent is unknown.
        """
        for submission in submissions:
            naming.check_submission(submission)
        digests = [naming.digest_of(one.game, one.kind, one.payload) for one in submissions]
        with self.database.writing() as session:
            if not reserved:
                check_authors(session, {naming.author_of(one.name) for one in submissions})
            known = rows.fetch_by_digest(session, digests)
            numbers = rows.highest_numbers(session, ((one.game, one.name) for one in submissions))
            _check_parents(session, submissions, digests, set(known))
            now = datetime.now(UTC)
            new: list[PolicyVersion] = []
            results: list[Registered] = []
            for submission, digest in zip(submissions, digests, strict=True):
                created = digest not in known
                if created:
                    key = (submission.game, submission.name)
                    numbers[key] = numbers.get(key, 0) + 1
                    known[digest] = _version(submission, digest, numbers[key], now)
                    new.append(known[digest])
                results.append(Registered(known[digest], created))
            note_authors(session, {version.author for version in new}, now)
            rows.insert_versions(session, new)
        return tuple(results)

    def get(self, game: str | None, ref: str) -> PolicyVersion:
        """The version that a reference means.

        Args:
          game: name of the game, or None to look in all of them.
          ref: author/name (its newest version that is not withdrawn), author/name@number, an
            alias, a digest, or the first 6 or more digits of one.

        Raises:
          MalformedName: it is not written as a reference.
          UnknownPolicy: nothing goes by it; `suggestions` reads like it.
          AmbiguousRef: several versions do; `candidates` lists them.
        """
        with self.database.reading() as session:
            return refs.resolve(session, game, ref)

    def by_digests(self, digests: Iterable[str]) -> dict[str, PolicyVersion]:
        """The versions with these (whole) digests, in the order given.

        Raises:
          UnknownPolicy: some are not there.
        """
        wanted = list(dict.fromkeys(digests))
        with self.database.reading() as session:
            found = rows.fetch_by_digest(session, wanted)
        missing = [digest for digest in wanted if digest not in found]
        if missing:
            raise UnknownPolicy(
                f"{len(missing)} of {len(wanted)} digests are not in the registry "
                f"{self.database.where}: {', '.join(missing[:3])}"
                f"{', ...' if len(missing) > 3 else ''}",
                missing[0],
            )
        return {digest: found[digest] for digest in wanted}

    def missing(self, submissions: Iterable[Submission]) -> list[Submission]:
        """Those of the submissions whose content is not registered, in their order."""
        by_digest = {naming.digest_of(one.game, one.kind, one.payload): one for one in submissions}
        with self.database.reading() as session:
            there = set(rows.existing_digests(session, by_digest))
        return [one for digest, one in by_digest.items() if digest not in there]

    def find(
        self,
        game: str | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
        **filters: Unpack[Filters],
    ) -> tuple[PolicyVersion, ...]:
        """The versions that satisfy all filters (see `Filters`), in order of registration."""
        order = col(VersionRow.position)
        statement = select(VersionRow).where(*conditions(game, filters))
        statement = statement.order_by(order.desc() if newest_first else order)
        with self.database.reading() as session:
            return rows.fetch(session, statement.limit(limit).offset(offset))

    def count(self, game: str | None = None, **filters: Unpack[Filters]) -> int:
        """How many versions satisfy all filters."""
        # Without any condition SQLite counts in one step, which a doctored file makes endless.
        wanted = conditions(game, filters) or [col(VersionRow.game) >= ""]
        statement = select(sa.func.count()).select_from(VersionRow).where(*wanted)
        with self.database.reading() as session:
            return session.exec(statement).one()

    def parents(self, digest: str) -> tuple[PolicyVersion, ...]:
        """The versions that a version came from, as its submission named them.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        with self.database.reading() as session:
            version = rows.existing(session, digest)
            return rows.fetch_each(
                session, list(dict.fromkeys(one.digest for one in version.parents))
            )

    def children(self, digest: str) -> tuple[PolicyVersion, ...]:
        """The versions that came from a version, in order of registration.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        own = select(ParentRow.child).where(col(ParentRow.parent) == digest)
        statement = select(VersionRow).where(col(VersionRow.digest).in_(own))
        with self.database.reading() as session:
            rows.existing(session, digest)
            return rows.fetch(session, statement.order_by(col(VersionRow.position)))


def _version(submission: Submission, digest: str, number: int, now: datetime) -> PolicyVersion:
    return PolicyVersion(
        digest=digest,
        game=submission.game,
        name=submission.name,
        number=number,
        kind=submission.kind,
        payload=submission.payload,
        status=submission.status,
        status_reason="",
        description=submission.description,
        labels=dict(sorted(submission.labels.items())),
        provenance=naming.plain_provenance(submission),
        parents=submission.parents,
        code_digest=submission.code_digest,
        created=now,
    )


def _check_parents(
    session: Session, submissions: Sequence[Submission], digests: Sequence[str], known: set[str]
) -> None:
    """Parents of what is new must be there, or stand before it."""
    named = {parent.digest for one in submissions for parent in one.parents}
    there = known | set(rows.existing_digests(session, named))
    for submission, digest in zip(submissions, digests, strict=True):
        missing = [parent.digest for parent in submission.parents if parent.digest not in there]
        if missing and digest not in known:
            raise UnknownParent(
                f"{submission.name}: its parent {missing[0]} is not in the registry; register "
                "parents first"
            )
        there.add(digest)
