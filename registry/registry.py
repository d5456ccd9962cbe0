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
from registry.accounts import Accounts
from registry.aliases import Aliases
from registry.authors import Authors, check_authors, note_authors
from registry.credits import best_known, own, under
from registry.database import Database
from registry.errors import UnknownParent, UnknownPolicy
from registry.events import Events, note
from registry.handover import handed_over, is_newcomer, unknown_to_others, write_new
from registry.invites import Invites
from registry.schema import ParentRow, VersionRow
from registry.search import Filters, conditions, names_that_fit
from registry.spending import Spending
from registry.statuses import Statuses
from registry.tournaments import Tournaments
from registry.values import Actor, Credit, PolicyVersion, Registered, Status, Submission


@dataclass(frozen=True, slots=True)
class Registry(Statuses, Aliases, Authors, Accounts, Invites, Spending, Tournaments, Events):
    """Submit, get and find policy versions.  Safe for use by threads and processes at once.

    A version's identity is the digest of its game, kind and payload.  "author/name@number" is a
    label, unique within a game; numbers count from 1 and are never used again.  Authors who hand
    in the same content get a name each.  Nothing but the status of a name ever changes, and
    aliases move.  Whatever is read is held against its digest.

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

    def acting_as(self, who: str, detail: str = "") -> Self:
        """The same registry, changed in somebody's name: the audit log keeps it with each change.

        Args:
          who: name of an account, "operator" or "arena".
          detail: what else is known of them, such as an address.
        """
        return replace(self, actor=Actor(who, detail))

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
        """Registers a version, or a name for the one with the same content.

        Args:
          submission: what is handed in, by the operator's hand: who may hand in something in an
            author's name is for the caller to ask (`account_of`).
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

        Where the content is there already, an author who has no name for it yet gets one, with
        the status and description handed in; one who has stays with it as it is.  The content's
        labels, provenance and parents stay those of whoever was first.  What is kept for a
        tournament is registered as if it were not there (`registry.handover`).

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
            over = handed_over(session, submissions, digests, known)
            stored = {digest: known[digest] for digest in over}
            _check_parents(session, submissions, digests, set(known), over)
            now = datetime.now(UTC)
            results: list[Registered] = []
            for submission, digest in zip(submissions, digests, strict=True):
                there = own(known.get(digest), naming.author_of(submission.name))
                if there is not None:
                    results.append(Registered(there, created=False, credited=False))
                    continue
                key = (submission.game, submission.name)
                numbers[key] = numbers.get(key, 0) + 1
                version = _version(submission, digest, numbers[key], now, known.get(digest))
                if digest in over and is_newcomer(submission, known[digest]):
                    version, over = _first(submission, version), over - {digest}
                results.append(Registered(version, digest not in known, credited=True))
                known[digest] = version
            new = [one for one in results if one.credited]
            note_authors(session, {one.version.author for one in new}, now)
            first = [one.version for one in new if _is_first(one.version)]
            write_new(session, first, stored)
            further = [one.version for one in new if not _is_first(one.version)]
            rows.insert_credits(session, further)
            entrants = [one.version for one in new if one.version.status is Status.QUALIFIED]
            said = [(one.digest, f"{one.game} {one.ref}") for one in entrants]
            note(session, self.actor, "version.registered", said)
        # With the names that came after it in the same sequence.
        return tuple(
            one._replace(version=replace(one.version, credits=known[one.version.digest].credits))
            for one in results
        )

    def get(self, game: str | None, ref: str) -> PolicyVersion:
        """The version that a reference means.

        Args:
          game: name of the game, or None to look in all of them.
          ref: author/name (its newest version that is not withdrawn), author/name@number, an
            alias, a digest, or the first 6 or more digits of one.  The version is seen under the
            name that was asked for, else under the first that stands best.

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
        """Those of the submissions whose content is not registered, in their order.

        What is kept for a tournament counts as if it were not (`registry.handover`).
        """
        by_digest = {naming.digest_of(one.game, one.kind, one.payload): one for one in submissions}
        with self.database.reading() as session:
            known = rows.fetch_by_digest(session, by_digest)
            there = set(known) - unknown_to_others(session, known.values())
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
        """The versions that satisfy all filters (see `Filters`), in order of registration.

        Each is there once, under the first that stands best of its names that fit.
        """
        order = col(VersionRow.position)
        statement = select(VersionRow).where(*conditions(game, filters))
        statement = statement.order_by(order.desc() if newest_first else order)
        with self.database.reading() as session:
            found = rows.fetch(session, statement.limit(limit).offset(offset))
            fitting = names_that_fit(session, found, filters)
        return tuple(best_known(one, fitting.get(one.digest)) for one in found)

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


def _version(
    submission: Submission,
    digest: str,
    number: int,
    now: datetime,
    known: PolicyVersion | None,
) -> PolicyVersion:
    credit = Credit(submission.name, number, submission.status, "", submission.description, now)
    if known is not None:
        return under(replace(known, credits=(*known.credits, credit)), credit)
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
        credits=(credit,),
    )


def _first(submission: Submission, version: PolicyVersion) -> PolicyVersion:
    """A version that is handed over to its newest name, with what was handed in under that."""
    was_first, *others, newest = version.credits
    new = _version(submission, version.digest, version.number, version.created, None)
    code = new.code_digest or version.code_digest  # it is the content's, whoever says so
    return replace(new, code_digest=code, credits=(newest, *others, was_first))


def _is_first(version: PolicyVersion) -> bool:
    return version.ref == version.credits[0].ref


def _check_parents(
    session: Session,
    submissions: Sequence[Submission],
    digests: Sequence[str],
    known: set[str],
    over: frozenset[str],
) -> None:
    """Parents of what is new, or handed over as if it were, must be there, or stand before it."""
    named = {parent.digest for one in submissions for parent in one.parents}
    known -= over
    there = (known | set(rows.existing_digests(session, named))) - over
    for submission, digest in zip(submissions, digests, strict=True):
        missing = [parent.digest for parent in submission.parents if parent.digest not in there]
        if missing and digest not in known:
            raise UnknownParent(
                f"{submission.name}: its parent {missing[0]} is not in the registry; register "
                "parents first"
            )
        there.add(digest)
