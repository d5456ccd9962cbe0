"""Between rows and values: whole batches are read and written with a few statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import sqlalchemy as sa
from sqlmodel import Session, SQLModel, col, select
from sqlmodel.sql.expression import SelectOfScalar

from registry.schema import LabelRow, ParentRow, StatusRow, VersionRow
from registry.values import Parent, PolicyVersion, Status

_Item = TypeVar("_Item")

_BATCH = 500
"""Parameters in one IN list: well under the limits of both databases."""


def fetch(session: Session, statement: SelectOfScalar[VersionRow]) -> tuple[PolicyVersion, ...]:
    """The versions that a statement selects, in its order, with labels and parents."""
    rows = session.exec(statement).all()
    digests = [row.digest for row in rows]
    labels = _labels(session, digests)
    parents = _parents(session, digests)
    return tuple(
        _version(row, labels.get(row.digest, {}), tuple(parents.get(row.digest, ())))
        for row in rows
    )


def fetch_by_digest(session: Session, digests: Iterable[str]) -> dict[str, PolicyVersion]:
    """The versions with these digests; those that are not there are left out."""
    found: dict[str, PolicyVersion] = {}
    for some in _batches(sorted(set(digests))):
        chosen = select(VersionRow).where(col(VersionRow.digest).in_(some))
        found.update((version.digest, version) for version in fetch(session, chosen))
    return found


def existing_digests(session: Session, digests: Iterable[str]) -> list[str]:
    """Those of the digests that are in the registry."""
    found: list[str] = []
    for some in _batches(sorted(set(digests))):
        statement = select(VersionRow.digest).where(col(VersionRow.digest).in_(some))
        found.extend(session.exec(statement))
    return found


def highest_numbers(
    session: Session, names: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Highest number so far for each (game, name); those without any are left out."""
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for game, name in sorted(set(names)):
        wanted[game].append(name)
    found: dict[tuple[str, str], int] = {}
    for game, all_names in wanted.items():
        for some in _batches(all_names):
            statement = (
                select(VersionRow.name, sa.func.max(VersionRow.number))
                .where(col(VersionRow.game) == game, col(VersionRow.name).in_(some))
                .group_by(col(VersionRow.name))
            )
            for name, number in session.exec(statement):
                found[game, name] = number
    return found


def insert_versions(session: Session, versions: Sequence[PolicyVersion]) -> None:
    """Writes new versions with their labels, parents and first status, in their order."""
    _insert(session, VersionRow, [_version_row(version) for version in versions])
    _insert(
        session,
        LabelRow,
        [
            {"digest": version.digest, "key": key, "value": value}
            for version in versions
            for key, value in version.labels.items()
        ],
    )
    _insert(
        session,
        ParentRow,
        [
            {
                "child": version.digest,
                "place": place,
                "parent": parent.digest,
                "relation": parent.relation,
            }
            for version in versions
            for place, parent in enumerate(version.parents)
        ],
    )
    _insert(
        session,
        StatusRow,
        [
            {
                "digest": version.digest,
                "status": version.status.value,
                "reason": version.status_reason,
                "changed": version.created,
            }
            for version in versions
        ],
    )


def sought_text(text: str) -> str:
    """Text as it is searched: without regard to case, alike on both databases."""
    return text.casefold()


def _insert(session: Session, table: type[SQLModel], rows: list[dict[str, object]]) -> None:
    if rows:
        session.execute(sa.insert(table), rows)


def _version_row(version: PolicyVersion) -> dict[str, object]:
    return {
        "digest": version.digest,
        "game": version.game,
        "name": version.name,
        "author": version.author,
        "number": version.number,
        "kind": version.kind,
        "status": version.status.value,
        "status_reason": version.status_reason,
        "description": version.description,
        "sought": sought_text(f"{version.name}\n{version.description}"),
        "code_digest": version.code_digest,
        "created": version.created,
        "provenance": version.provenance,
        "payload": version.payload,
    }


def _version(row: VersionRow, labels: dict[str, str], parents: tuple[Parent, ...]) -> PolicyVersion:
    return PolicyVersion(
        digest=row.digest,
        game=row.game,
        name=row.name,
        number=row.number,
        kind=row.kind,
        payload=row.payload,
        status=Status(row.status),
        status_reason=row.status_reason,
        description=row.description,
        labels=labels,
        provenance=row.provenance,
        parents=parents,
        code_digest=row.code_digest,
        created=row.created,
    )


def _labels(session: Session, digests: Sequence[str]) -> dict[str, dict[str, str]]:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for some in _batches(digests):
        statement = (
            select(LabelRow.digest, LabelRow.key, LabelRow.value)
            .where(col(LabelRow.digest).in_(some))
            .order_by(col(LabelRow.key))
        )
        for digest, key, value in session.exec(statement):
            found[digest][key] = value
    return found


def _parents(session: Session, digests: Sequence[str]) -> dict[str, list[Parent]]:
    found: defaultdict[str, list[Parent]] = defaultdict(list)
    for some in _batches(digests):
        statement = (
            select(ParentRow.child, ParentRow.parent, ParentRow.relation)
            .where(col(ParentRow.child).in_(some))
            .order_by(col(ParentRow.child), col(ParentRow.place))
        )
        for child, parent, relation in session.exec(statement):
            found[child].append(Parent(parent, relation))
    return found


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
