"""Which versions a filter selects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict

import sqlalchemy as sa
from sqlalchemy import ColumnElement, exists
from sqlmodel import Session, col, select

from registry.errors import UnknownStatus
from registry.rows import batches, legible, sought_text
from registry.schema import CreditRow, LabelRow, VersionRow
from registry.values import PolicyVersion, Status


class Filters(TypedDict, total=False):
    """What a version must satisfy; whatever is left out, or None, is not asked for.

    One of its names must satisfy all that is asked of names: author, name, status and text.

    Attributes:
      author: the part of the name before the slash.
      name: author/name, all its numbers.
      kind: as in `Submission`.
      status: one status, or any of several; their values will do.
      labels: all of these key-value pairs; a value of None asks only that the key is there.
      text: every one of these words, anywhere in the name or description, in any case.
      code_digest: clones of the same code.
    """

    author: str | None
    name: str | None
    kind: str | None
    status: Status | Collection[Status] | None
    labels: Mapping[str, str | None] | None
    text: str | None
    code_digest: str | None


def _known(status: str) -> Status:
    try:
        return Status(status)
    except ValueError:
        known = ", ".join(Status)
        raise UnknownStatus(f"there is no status {status!r}; choose from {known}") from None


def conditions(game: str | None, filters: Filters) -> list[ColumnElement[bool]]:
    """The filter as conditions on `VersionRow`, to be joined by "and".

    Raises:
      TypeError: there is no such filter.
      UnknownStatus: there is no such status.
    """
    strange = filters.keys() - Filters.__annotations__.keys()
    if strange:
        raise TypeError(f"there is no filter {min(strange)!r}; see Filters")
    equal = (
        (VersionRow.game, game),
        (VersionRow.kind, filters.get("kind")),
        (VersionRow.code_digest, filters.get("code_digest")),
    )
    wanted = [col(column) == value for column, value in equal if value is not None]
    for key, label in (filters.get("labels") or {}).items():
        wanted.append(_has_label(key, label))
    named = _naming(VersionRow, filters)
    if named:
        further = select(CreditRow.digest).where(*_naming(CreditRow, filters))
        wanted.append(sa.or_(sa.and_(*named), col(VersionRow.digest).in_(further)))
    return wanted


def names_that_fit(
    session: Session, versions: Collection[PolicyVersion], filters: Filters
) -> dict[str, set[str]]:
    """Of versions with several names: the references that satisfy what is asked of names."""
    several = sorted(one.digest for one in versions if len(one.credits) > 1)
    found: dict[str, set[str]] = {digest: set() for digest in several}
    for some in batches(several):
        for table in (VersionRow, CreditRow):
            statement = select(table.digest, table.name, table.number)
            statement = statement.where(col(table.digest).in_(some), *_naming(table, filters))
            with legible(session):
                for digest, name, number in session.exec(statement):
                    found[digest].add(f"{name}@{number}")
    return found


def _naming(
    table: type[VersionRow] | type[CreditRow], filters: Filters
) -> list[ColumnElement[bool]]:
    wanted = [
        col(column) == value
        for column, value in (
            (table.author, filters.get("author")),
            (table.name, filters.get("name")),
        )
        if value is not None
    ]
    status = filters.get("status")
    if status is not None:
        statuses = [status] if isinstance(status, str) else sorted(status)
        wanted.append(col(table.status).in_([_known(item).value for item in statuses]))
    words = sought_text(filters.get("text") or "").split()
    return wanted + [col(table.sought).contains(word, autoescape=True) for word in words]


def _has_label(key: str, value: str | None) -> ColumnElement[bool]:
    found = exists().where(col(LabelRow.digest) == col(VersionRow.digest))
    found = found.where(col(LabelRow.key) == key)
    return found if value is None else found.where(col(LabelRow.value) == value)
