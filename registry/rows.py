"""Between rows and values: whole batches are read and written with a few statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import sqlalchemy as sa
from sqlmodel import Session, SQLModel, col, select
from sqlmodel.sql.expression import SelectOfScalar

from registry import naming
from registry.credits import best_known
from registry.errors import RegistryCorrupt, UnknownPolicy
from registry.schema import CreditRow, LabelRow, ParentRow, StatusRow, VersionRow
from registry.values import Credit, Parent, PolicyVersion, Status

_Item = TypeVar("_Item")

_STATUSES = frozenset(Status)
_BATCH = 500
"""Parameters in one IN list: well under the limits of both databases."""


def place(session: Session) -> str:
    """Path or URL of the registry that a session reads, for messages."""
    return str(session.info["where"])


@contextmanager
def legible(session: Session) -> Iterator[None]:
    """Around the reading of rows.

    Raises:
      RegistryCorrupt: a column holds what its type cannot be: no moment, no JSON, text for bytes.
    """
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise RegistryCorrupt(
            f"a row of the registry {place(session)} cannot be read ({str(error)[:160]}): the "
            "registry was damaged or edited; restore it from a copy"
        ) from error


def fetch(session: Session, statement: SelectOfScalar[VersionRow]) -> tuple[PolicyVersion, ...]:
    """The versions that a statement selects, in its order, with labels and parents.

    Each is seen under the first of its names that stands best.

    Raises:
      RegistryCorrupt: one is not what was registered.
    """
    found = _read(session, statement)
    digests = list(found)
    labels = _labels(session, digests)
    parents = _parents(session, digests)
    credits = _credits(session, found)
    versions = (
        _version(
            row,
            labels.get(row.digest, {}),
            tuple(parents.get(row.digest, ())),
            (_credit(row), *credits.get(row.digest, ())),
        )
        for row in found.values()
    )
    return tuple(best_known(version) for version in versions)


def fetch_by_digest(session: Session, digests: Iterable[str]) -> dict[str, PolicyVersion]:
    """The versions with these digests; those that are not there are left out."""
    found: dict[str, PolicyVersion] = {}
    for some in batches(sorted(set(digests))):
        chosen = select(VersionRow).where(col(VersionRow.digest).in_(some))
        found.update((version.digest, version) for version in fetch(session, chosen))
    return found


def fetch_each(session: Session, digests: Sequence[str]) -> tuple[PolicyVersion, ...]:
    """The versions with these digests, in their order; other rows refer to them.

    Raises:
      RegistryCorrupt: one is not there.
    """
    found = fetch_by_digest(session, digests)
    missing = [digest for digest in digests if digest not in found]
    if missing:
        raise RegistryCorrupt(
            f"the version {missing[0]!r} that a row of the registry {place(session)} refers to is "
            "not there: the registry was damaged or edited; restore it from a copy"
        )
    return tuple(found[digest] for digest in digests)


def existing(session: Session, digest: str) -> PolicyVersion:
    """The version with this digest.

    Raises:
      UnknownPolicy: there is none.
    """
    found = fetch_by_digest(session, [digest])
    if digest not in found:
        raise UnknownPolicy(f"there is no version with the digest {digest!r}", digest)
    return found[digest]


def status_of(session: Session, text: str) -> Status:
    """A stored status.

    Raises:
      RegistryCorrupt: it is none.
    """
    if text not in _STATUSES:
        raise RegistryCorrupt(
            f"{text!r} in the registry {place(session)} is no status: the registry was damaged or "
            "edited; restore it from a copy"
        )
    return Status(text)


def existing_digests(session: Session, digests: Iterable[str]) -> list[str]:
    """Those of the digests that are in the registry."""
    found: list[str] = []
    for some in batches(sorted(set(digests))):
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
        for some in batches(all_names):
            for table in (VersionRow, CreditRow):
                statement = (
                    select(table.name, sa.func.max(table.number))
                    .where(col(table.game) == game, col(table.name).in_(some))
                    .group_by(col(table.name))
                )
                with legible(session):
                    for name, number in session.exec(statement):
                        found[game, name] = max(found.get((game, name), 0), int(number))
    return found


def insert_versions(session: Session, versions: Sequence[PolicyVersion]) -> None:
    """Writes new versions with their labels, parents and first status, in their order."""
    _insert(session, VersionRow, [version_row(version) for version in versions])
    insert_origins(session, versions)


def insert_origins(session: Session, versions: Sequence[PolicyVersion]) -> None:
    """Writes the labels, parents and first status of versions that are there."""
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
    _insert_statuses(session, [(version, "") for version in versions])


def insert_credits(session: Session, versions: Sequence[PolicyVersion]) -> None:
    """Writes the names under which versions that are there are seen, with their first status."""
    _insert(
        session,
        CreditRow,
        [
            {
                "digest": version.digest,
                "game": version.game,
                "name": version.name,
                "author": version.author,
                "number": version.number,
                "status": version.status.value,
                "status_reason": version.status_reason,
                "description": version.description,
                "sought": sought_text(f"{version.name}\n{version.description}"),
                "created": version.created,
            }
            for version in versions
        ],
    )
    _insert_statuses(session, [(version, version.ref) for version in versions])


def _insert_statuses(session: Session, changed: Iterable[tuple[PolicyVersion, str]]) -> None:
    """Writes the first status of versions, each with the further name that it is about, or ""."""
    _insert(
        session,
        StatusRow,
        [
            {
                "digest": version.digest,
                "status": version.status.value,
                "reason": version.status_reason,
                "changed": version.created,
                "ref": ref,
            }
            for version, ref in changed
        ],
    )


def sought_text(text: str) -> str:
    """Text as it is searched: without regard to case, alike on both databases."""
    return text.casefold()


def _insert(session: Session, table: type[SQLModel], rows: list[dict[str, object]]) -> None:
    if rows:
        session.execute(sa.insert(table), rows)


def version_row(version: PolicyVersion) -> dict[str, object]:
    """A version's columns, under the name that it is seen by; its position is for others."""
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


def _read(session: Session, statement: SelectOfScalar[VersionRow]) -> dict[str, VersionRow]:
    """Rows by digest."""
    found: dict[str, VersionRow] = {}
    if session.get_bind().dialect.name == "sqlite":
        # Batch by batch: the trees of a doctored file can give the same rows for ever.
        statement = statement.execution_options(yield_per=_BATCH)
    with legible(session):
        for some in session.exec(statement).partitions(_BATCH):
            for row in some:
                _check_identity(row, place(session))
                if row.digest in found:
                    raise _corrupt(row, "is there twice", place(session))
                found[row.digest] = row
    return found


def _corrupt(row: VersionRow | CreditRow, trouble: str, where: str) -> RegistryCorrupt:
    ref = f"{row.name}@{row.number} of {row.game}"
    return RegistryCorrupt(
        f"the version {ref[:160]!r} with the digest {row.digest!r} in the registry {where} "
        f"{trouble}: the registry was damaged or edited; restore it from a copy"
    )


def _check_identity(row: VersionRow, where: str) -> None:
    """A version is the content that its digest says, or it is not shown to anybody.

    What plays is chosen by digest, and results are kept by it: a payload that was changed behind
    the registry's back would play under another policy's results.
    """
    texts = (row.code_digest, row.game, row.kind, row.payload)
    sound = (
        all(isinstance(text, str) for text in texts)
        and isinstance(row.provenance, dict)
        and _is_named(row)
    )
    if not sound or naming.digest_of(row.game, row.kind, row.payload) != row.digest:
        raise _corrupt(row, "is not what was registered", where)


def _credit(row: VersionRow | CreditRow) -> Credit:
    return Credit(
        row.name, row.number, Status(row.status), row.status_reason, row.description, row.created
    )


def _credits(session: Session, versions: Mapping[str, VersionRow]) -> dict[str, list[Credit]]:
    """Further names by digest, in the order in which they were handed in."""
    found: defaultdict[str, list[Credit]] = defaultdict(list)
    for some in batches(list(versions)):
        statement = select(CreditRow).where(col(CreditRow.digest).in_(some))
        with legible(session):
            for row in session.exec(statement.order_by(col(CreditRow.position))):
                if row.game != versions[row.digest].game or not _is_named(row):
                    raise _corrupt(row, "is not what was registered", place(session))
                found[row.digest].append(_credit(row))
    return found


def _is_named(row: VersionRow | CreditRow) -> bool:
    """Whether the fields of a row that belong to a name are what they can be."""
    texts = (row.name, row.author, row.description, row.status_reason)
    return (
        all(isinstance(text, str) for text in texts)
        and row.status in _STATUSES
        and naming.is_numbered_name(row.name, row.number)
        and row.author == naming.author_of(row.name)
    )


def _version(
    row: VersionRow,
    labels: dict[str, str],
    parents: tuple[Parent, ...],
    credits: tuple[Credit, ...],
) -> PolicyVersion:
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
        credits=credits,
    )


def _labels(session: Session, digests: Sequence[str]) -> dict[str, dict[str, str]]:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for some in batches(digests):
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
    for some in batches(digests):
        statement = (
            select(ParentRow.child, ParentRow.parent, ParentRow.relation)
            .where(col(ParentRow.child).in_(some))
            .order_by(col(ParentRow.child), col(ParentRow.place))
        )
        for child, parent, relation in session.exec(statement):
            found[child].append(Parent(parent, relation))
    return found


def batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Parts that are short enough for one IN list."""
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
