"""Content that is kept for a tournament, handed in by somebody who does not know that it is there.

The first name of a version has its place in the order of registration, its labels, its provenance
and its parents.  If content that nobody may know of kept them when somebody hands it in, everybody
could ask so of any program.  So the newcomer's name becomes the first one, as if the content were
new, and the name under which it was kept becomes a further one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry import rows
from registry.credits import KEEPER, is_kept, keeps, own
from registry.naming import author_of
from registry.schema import CreditRow, LabelRow, ParentRow, StatusRow, TournamentRow, VersionRow
from registry.values import PolicyVersion, Submission

_OF_A_NAME = (
    *("digest", "game", "name", "author", "number", "status", "status_reason", "description"),
    *("sought", "created"),
)
"""Columns that a version's first name and a further one have both."""


def handed_over(
    session: Session,
    submissions: Sequence[Submission],
    digests: Sequence[str],
    known: Mapping[str, PolicyVersion],
) -> frozenset[str]:
    """Digests of what is there, and is registered for these submissions as if it were not.

    Args:
      session: reads.
      submissions: what is handed in.
      digests: of each.
      known: versions that are there, by digest.
    """
    unknown = unknown_to_others(session, known.values())
    return frozenset(
        digest
        for one, digest in zip(submissions, digests, strict=True)
        if digest in unknown and is_newcomer(one, known[digest])
    )


def is_newcomer(submission: Submission, version: PolicyVersion) -> bool:
    """Whether a submission tells others of content, to an author who has no name for it yet."""
    author = author_of(submission.name)
    return not keeps(submission.status, author) and own(version, author) is None


def write_new(
    session: Session, versions: Sequence[PolicyVersion], before: Mapping[str, PolicyVersion]
) -> None:
    """Writes versions under their first names, in their order.

    Args:
      session: writes.
      versions: new ones, and those that are handed over.
      before: those that are handed over as they are stored, by digest.
    """
    new: list[PolicyVersion] = []
    for one in versions:
        if one.digest not in before:
            new.append(one)
            continue
        rows.insert_versions(session, new)
        new = []
        _hand_over(session, before[one.digest].credits[0].ref, one)
    rows.insert_versions(session, new)


def unknown_to_others(session: Session, versions: Iterable[PolicyVersion]) -> set[str]:
    """Digests of those that are kept for a tournament, and that nobody else knows of."""
    kept = [one for one in versions if all(map(is_kept, one.credits))]
    if not kept:
        return set()
    pending = select(TournamentRow.hidden).where(col(TournamentRow.certificate) == "")
    with rows.legible(session):
        hidden = {digest for named in session.exec(pending) for digest in named}
    return {
        one.digest
        for one in kept
        if one.digest in hidden or all(name.author == KEEPER for name in one.credits)
    }


def _hand_over(session: Session, first: str, version: PolicyVersion) -> None:
    """Makes another name the first one of a version, and a further one of the first.

    Args:
      session: writes.
      first: reference of the name that it was registered under.
      version: as it is from now on, under its new first name.
    """
    there = col(VersionRow.digest) == version.digest
    old = select(*(getattr(VersionRow, name) for name in _OF_A_NAME)).where(there)
    session.execute(sa.insert(CreditRow).from_select(list(_OF_A_NAME), old))
    for table, column in ((LabelRow, LabelRow.digest), (ParentRow, ParentRow.child)):
        session.execute(sa.delete(table).where(col(column) == version.digest))
    of_first = sa.and_(col(StatusRow.digest) == version.digest, col(StatusRow.ref) == "")
    _update(session, sa.update(StatusRow).where(of_first).values(ref=first))
    new = {**rows.version_row(version), "position": _next_position(session)}
    _update(session, sa.update(VersionRow).where(there).values(new))
    rows.insert_origins(session, [version])


def _update(session: Session, statement: sa.Update) -> None:
    # What the session has read is not looked at again.
    session.execute(statement, execution_options={"synchronize_session": False})


def _next_position(session: Session) -> sa.ColumnElement[int]:
    """The place of what is registered last; writers take turns."""
    table = sa.literal(VersionRow.__tablename__)
    if session.get_bind().dialect.name == "postgresql":
        return sa.func.nextval(sa.func.pg_get_serial_sequence(table, "position"))
    last = select(sa.func.max(col(VersionRow.position)) + 1)
    return last.correlate(None).scalar_subquery()
