"""Where versions stand: the status of one, and the quarantine of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import naming, rows
from registry.part import Part
from registry.schema import StatusRow, VersionRow
from registry.values import PolicyVersion, Status, StatusChange


class Statuses(Part):
    """Changes of status.  Nothing is forgotten: a version's history keeps each with its reason."""

    __slots__ = ()

    def set_status(self, digest: str, status: Status, reason: str) -> PolicyVersion:
        """Changes a version's status; the history keeps the old one.

        Setting what is set already, for the same reason, changes nothing.

        Raises:
          UnknownPolicy: there is no such digest.
          MalformedSubmission: the reason cannot be stored.
        """
        naming.check_reason(reason)
        with self.database.writing() as session:
            (changed,) = _change(session, [rows.existing(session, digest)], status, reason)
        return changed

    def history(self, digest: str) -> tuple[StatusChange, ...]:
        """A version's statuses since its registration, oldest first.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        statement = select(StatusRow).where(col(StatusRow.digest) == digest)
        with self.database.reading() as session, rows.legible(session):
            found = session.exec(statement.order_by(col(StatusRow.position))).all()
            if not found:
                rows.existing(session, digest)
            return tuple(
                StatusChange(rows.status_of(session, row.status), row.reason, row.changed)
                for row in found
            )

    def quarantine_code(
        self, game: str, code_digest: str, reason: str
    ) -> tuple[PolicyVersion, ...]:
        """Quarantines a program under all the names and layouts that it was handed in with.

        Args:
          game: whose versions are meant; the same code plays another game differently.
          code_digest: as in `Submission`.  The empty one belongs to no code and matches nothing.
          reason: the evidence, for the history.

        Returns:
          All versions of that code that are in quarantine now, in order of registration.
          Withdrawn ones stay withdrawn and are not among them.

        Raises:
          MalformedSubmission: the reason cannot be stored.
        """
        naming.check_reason(reason)
        if not code_digest:
            return ()
        with self.database.writing() as session:
            found = _of_code(session, game, code_digest)
            standing = [version for version in found if version.status is not Status.YANKED]
            return _change(session, standing, Status.QUARANTINED, reason)

    def quarantined_code(self, game: str, code_digest: str) -> PolicyVersion | None:
        """The first version of that code that is in quarantine, or was when it was withdrawn.

        Withdrawing a version and handing in the same code again does not lift a quarantine;
        giving every version of that code another status does.
        """
        if not code_digest:
            return None
        with self.database.reading() as session:
            for version in _of_code(session, game, code_digest):
                if _status_before_withdrawal(session, version) is Status.QUARANTINED:
                    return version
        return None


def _of_code(session: Session, game: str, code_digest: str) -> tuple[PolicyVersion, ...]:
    statement = select(VersionRow).where(
        col(VersionRow.game) == game, col(VersionRow.code_digest) == code_digest
    )
    return rows.fetch(session, statement.order_by(col(VersionRow.position)))


def _status_before_withdrawal(session: Session, version: PolicyVersion) -> Status:
    if version.status is not Status.YANKED:
        return version.status
    statement = select(StatusRow.status).where(
        col(StatusRow.digest) == version.digest, col(StatusRow.status) != Status.YANKED.value
    )
    latest = session.exec(statement.order_by(col(StatusRow.position).desc()).limit(1)).first()
    return version.status if latest is None else rows.status_of(session, latest)


def _change(
    session: Session, versions: Sequence[PolicyVersion], status: Status, reason: str
) -> tuple[PolicyVersion, ...]:
    wanted = (status, reason)
    moved = [one.digest for one in versions if (one.status, one.status_reason) != wanted]
    now = datetime.now(UTC)
    for digest in moved:
        change = sa.update(VersionRow).where(col(VersionRow.digest) == digest)
        session.execute(change.values(status=status.value, status_reason=reason))
        session.add(StatusRow(digest=digest, status=status.value, reason=reason, changed=now))
    return tuple(replace(one, status=status, status_reason=reason) for one in versions)
