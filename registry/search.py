"""Which versions a filter selects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict

from sqlalchemy import ColumnElement, exists
from sqlmodel import col

from registry.rows import sought_text
from registry.schema import LabelRow, VersionRow
from registry.values import Status


class Filters(TypedDict, total=False):
    """What a version must satisfy; whatever is left out, or None, is not asked for.

    Attributes:
      author: the part of the name before the slash.
      name: author/name, all its numbers.
      kind: as in `Submission`.
      status: one status, or any of several.
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


def conditions(game: str | None, filters: Filters) -> list[ColumnElement[bool]]:
    """The filter as conditions on `VersionRow`, to be joined by "and"."""
    equal = (
        (VersionRow.game, game),
        (VersionRow.author, filters.get("author")),
        (VersionRow.name, filters.get("name")),
        (VersionRow.kind, filters.get("kind")),
        (VersionRow.code_digest, filters.get("code_digest")),
    )
    wanted = [col(column) == value for column, value in equal if value is not None]
    status = filters.get("status")
    if status is not None:
        statuses = [status] if isinstance(status, Status) else sorted(status)
        wanted.append(col(VersionRow.status).in_([item.value for item in statuses]))
    for key, label in (filters.get("labels") or {}).items():
        wanted.append(_has_label(key, label))
    words = sought_text(filters.get("text") or "").split()
    return wanted + [col(VersionRow.sought).contains(word, autoescape=True) for word in words]


def _has_label(key: str, value: str | None) -> ColumnElement[bool]:
    found = exists().where(col(LabelRow.digest) == col(VersionRow.digest))
    found = found.where(col(LabelRow.key) == key)
    return found if value is None else found.where(col(LabelRow.value) == value)
