"""The registry: every policy version that was ever handed in, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import naming, refs, rows
from registry.database import Database
from registry.errors import AliasProtected, UnknownParent, UnknownPolicy
from registry.schema import AliasRow, ParentRow, StatusRow, VersionRow
from registry.search import Filters, conditions
from registry.values import (
    Alias,
    PolicyVersion,
    Registered,
    Status,
    StatusChange,
    Submission,
)


@dataclass(frozen=True, slots=True)
class Registry:
    """Submit, get and find policy versions.  Safe for use by threads and processes at once.

    A version's identity is the digest of its game, kind and payload.  "author/name@number" is a
    label, unique within a game; numbers count from 1 and are never used again.  Nothing but a
    version's status ever changes, and aliases move.

    Every method may raise `RegistryUnavailable`.
    """

    database: Database

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

    def submit(self, submission: Submission) -> Registered:
        """Registers a version, or returns the one with the same content.

        Raises:
          MalformedName: the name is not "author/name".
          MalformedSubmission: another field cannot be stored, or a parent is unknown.
        """
        return self.submit_many([submission])[0]

    def submit_many(self, submissions: Sequence[Submission]) -> tuple[Registered, ...]:
        """Registers many in one transaction: all of them, or none.

        What was registered already, or stands twice in the sequence, is returned as it is; its
        status, too, stays what it was.

        Raises:
          MalformedName: a name is not "author/name".
          MalformedSubmission: another field cannot be stored, or a parent is unknown.
        """
        for submission in submissions:
            naming.check_submission(submission)
        digests = [naming.digest_of(one.game, one.kind, one.payload) for one in submissions]
        with self.database.writing() as session:
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
        statement = select(sa.func.count()).select_from(VersionRow)
        with self.database.reading() as session:
            return session.exec(statement.where(*conditions(game, filters))).one()

    def set_status(self, digest: str, status: Status, reason: str) -> PolicyVersion:
        """Changes a version's status; the history keeps the old one.

        Setting what is set already, for the same reason, changes nothing.

        Raises:
          UnknownPolicy: there is no such digest.
          MalformedSubmission: the reason cannot be stored.
        """
        naming.check_reason(reason)
        with self.database.writing() as session:
            version = _existing(session, digest)
            if (version.status, version.status_reason) == (status, reason):
                return version
            change = sa.update(VersionRow).where(col(VersionRow.digest) == digest)
            session.execute(change.values(status=status.value, status_reason=reason))
            now = datetime.now(UTC)
            session.add(StatusRow(digest=digest, status=status.value, reason=reason, changed=now))
        return replace(version, status=status, status_reason=reason)

    def history(self, digest: str) -> tuple[StatusChange, ...]:
        """A version's statuses since its registration, oldest first.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        statement = select(StatusRow).where(col(StatusRow.digest) == digest)
        with self.database.reading() as session:
            found = session.exec(statement.order_by(col(StatusRow.position))).all()
            if not found:
                _existing(session, digest)
            return tuple(StatusChange(Status(row.status), row.reason, row.changed) for row in found)

    def parents(self, digest: str) -> tuple[PolicyVersion, ...]:
        """The versions that a version came from, as its submission named them.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        with self.database.reading() as session:
            version = _existing(session, digest)
            found = rows.fetch_by_digest(session, (parent.digest for parent in version.parents))
        return tuple(found[key] for key in dict.fromkeys(one.digest for one in version.parents))

    def children(self, digest: str) -> tuple[PolicyVersion, ...]:
        """The versions that came from a version, in order of registration.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        own = select(ParentRow.child).where(col(ParentRow.parent) == digest)
        statement = select(VersionRow).where(col(VersionRow.digest).in_(own))
        with self.database.reading() as session:
            _existing(session, digest)
            return rows.fetch(session, statement.order_by(col(VersionRow.position)))

    def set_alias(
        self,
        game: str,
        name: str,
        ref: str,
        *,
        protected: bool | None = None,
        override: bool = False,
    ) -> Alias:
        """Points an alias at a version of the game.

        Args:
          game: name of the game.
          name: one word without a slash.
          ref: as for `get`.
          protected: whether later moves need `override`; None keeps what it is (False at first).
          override: move it even where it is protected.

        Raises:
          MalformedName: the alias is not well formed, or reads like a digest.
          AliasProtected: it is protected, points elsewhere, and `override` is not set.
          UnknownPolicy: nothing goes by the reference.
          AmbiguousRef: several versions do.
        """
        naming.check_alias(name)
        with self.database.writing() as session:
            digest = refs.resolve(session, game, ref).digest
            row = session.get(AliasRow, (game, name))
            if row is None:
                row = AliasRow(
                    game=game, name=name, digest=digest, protected=False, changed=datetime.now(UTC)
                )
            elif row.digest != digest or (row.protected and protected is False):
                _check_unprotected(row, override)
                row.digest, row.changed = digest, datetime.now(UTC)
            if protected is not None:
                row.protected = protected
            session.add(row)
            return _alias(row)

    def remove_alias(self, game: str, name: str, *, override: bool = False) -> None:
        """Removes an alias; the version stays.

        Raises:
          UnknownPolicy: the game has no such alias.
          AliasProtected: it is protected and `override` is not set.
        """
        with self.database.writing() as session:
            row = session.get(AliasRow, (game, name))
            if row is None:
                raise UnknownPolicy(f"{game} has no alias {name!r}", name)
            _check_unprotected(row, override)
            session.delete(row)

    def aliases(self, game: str | None = None) -> tuple[Alias, ...]:
        """All aliases, of one game or of all."""
        statement = select(AliasRow)
        if game is not None:
            statement = statement.where(col(AliasRow.game) == game)
        with self.database.reading() as session:
            found = [_alias(row) for row in session.exec(statement)]
        return tuple(sorted(found, key=lambda alias: (alias.game, alias.name)))


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


def _existing(session: Session, digest: str) -> PolicyVersion:
    found = rows.fetch_by_digest(session, [digest])
    if digest not in found:
        raise UnknownPolicy(f"there is no version with the digest {digest!r}", digest)
    return found[digest]


def _check_unprotected(row: AliasRow, override: bool) -> None:
    if row.protected and not override:
        raise AliasProtected(
            f"the alias {row.name!r} of {row.game} is protected and points to {row.digest[:12]}; "
            "ask for the change explicitly to override that"
        )


def _alias(row: AliasRow) -> Alias:
    return Alias(row.game, row.name, row.digest, row.protected, row.changed)
