"""Where versions stand: the status of one, and the quarantine of a program."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import naming, rows
from registry.credits import best_known, under
from registry.errors import UnknownPolicy
from registry.events import note
from registry.part import Part
from registry.schema import CreditRow, StatusRow, VersionRow
from registry.values import Actor, Credit, PolicyVersion, Status, StatusChange


class Statuses(Part):
    """Changes of status.  Nothing is forgotten: a version's history keeps each with its reason."""

    __slots__ = ()

    def set_status(
        self, digest: str, status: Status, reason: str, *, ref: str | None = None
    ) -> PolicyVersion:
        """Changes the status of a version's names; the history keeps the old one.

        Setting what is set already, for the same reason, changes nothing.

        Args:
          digest: of the version.
          status: the new one.
          reason: why, for the history.
          ref: author/name@number of the one name that is meant; all of them by default.

        Returns:
          The version under that name, or under the first that stands best.

        Raises:
          UnknownPolicy: there is no such digest, or it has no such name.
          MalformedSubmission: the reason cannot be stored.
        """
        naming.check_reason(reason)
        with self.database.writing() as session:
            version = rows.existing(session, digest)
            meant = [one for one in version.credits if ref in (None, one.ref)]
            if not meant:
                raise UnknownPolicy(f"the version {digest!r} has no name {ref!r}", str(ref))
            _change(session, self.actor, version, meant, status, reason)
            changed = rows.existing(session, digest)
        return best_known(changed, None if ref is None else {ref})

    def history(self, digest: str) -> tuple[StatusChange, ...]:
        """A version's statuses under all its names since its registration, oldest first.

        Raises:
          UnknownPolicy: there is no such digest.
        """
        statement = select(StatusRow).where(col(StatusRow.digest) == digest)
        with self.database.reading() as session, rows.legible(session):
            first = rows.existing(session, digest).credits[0].ref
            found = session.exec(statement.order_by(col(StatusRow.position))).all()
            return tuple(
                StatusChange(
                    rows.status_of(session, row.status), row.reason, row.changed, row.ref or first
                )
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
          What was withdrawn under all its names stays so and is not among them.

        Raises:
          MalformedSubmission: the reason cannot be stored.
        """
        naming.check_reason(reason)
        if not code_digest:
            return ()
        with self.database.writing() as session:
            found = _of_code(session, game, code_digest)
            standing = []
            for version in found:
                meant = [one for one in version.credits if one.status is not Status.YANKED]
                standing += [version] if meant else []
                _change(session, self.actor, version, meant, Status.QUARANTINED, reason)
            return rows.fetch_each(session, [version.digest for version in standing])

    def quarantined_code(self, game: str, code_digest: str) -> PolicyVersion | None:
        """The first version of that code that is in quarantine, or was when it was withdrawn.

        Withdrawing a version and handing in the same code again does not lift a quarantine;
        giving every version of that code another status does.
        """
        if not code_digest:
            return None
        with self.database.reading() as session:
            for version in _of_code(session, game, code_digest):
                for credit in version.credits:
                    if _status_before_withdrawal(session, version, credit) is Status.QUARANTINED:
                        return under(version, credit)
        return None


def _of_code(session: Session, game: str, code_digest: str) -> tuple[PolicyVersion, ...]:
    statement = select(VersionRow).where(
        col(VersionRow.game) == game, col(VersionRow.code_digest) == code_digest
    )
    return rows.fetch(session, statement.order_by(col(VersionRow.position)))


def _status_before_withdrawal(session: Session, version: PolicyVersion, credit: Credit) -> Status:
    if credit.status is not Status.YANKED:
        return credit.status
    statement = select(StatusRow.status).where(
        col(StatusRow.digest) == version.digest,
        col(StatusRow.ref) == _ref_in_history(version, credit),
        col(StatusRow.status) != Status.YANKED.value,
    )
    latest = session.exec(statement.order_by(col(StatusRow.position).desc()).limit(1)).first()
    return credit.status if latest is None else rows.status_of(session, latest)


def _ref_in_history(version: PolicyVersion, credit: Credit) -> str:
    return "" if credit is version.credits[0] else credit.ref


def _change(
    session: Session,
    actor: Actor,
    version: PolicyVersion,
    credits: Iterable[Credit],
    status: Status,
    reason: str,
) -> None:
    """Changes the status of some names of a version, where it is another."""
    now = datetime.now(UTC)
    for credit in credits:
        if (credit.status, credit.status_reason) == (status, reason):
            continue
        ref = _ref_in_history(version, credit)
        table = CreditRow if ref else VersionRow
        named = sa.and_(
            col(table.digest) == version.digest,
            col(table.name) == credit.name,
            col(table.number) == credit.number,
        )
        new = {"status": status.value, "status_reason": reason}
        session.execute(sa.update(table).where(named).values(new))
        session.add(
            StatusRow(
                digest=version.digest, status=status.value, reason=reason, changed=now, ref=ref
            )
        )
        said = (
            f"{version.game} {credit.ref}: {reason}" if reason else f"{version.game} {credit.ref}"
        )
        note(session, actor, f"version.{status.value}", [(version.digest, said)])
