"""The registry's tables.  `migrations/` builds them; a test holds the two together.

Versions are append-only but for their status.  Rows refer to each other by digest.  All names
begin with "policy_", because a PostgreSQL database may hold other programs' tables as well.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Index,
    LargeBinary,
    String,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlmodel import Field, SQLModel

HEAD = "0005"
"""Newest revision of `migrations/`: a database at this revision is ready to use."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC.  SQLite keeps no time zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC, where it says nothing of its zone it is already."""
        if value is None or value.tzinfo is not None:
            return value if value is None else value.astimezone(UTC)
        return value.replace(tzinfo=UTC)


class SecretBytes(bytes):
    """Bytes that do not show in `repr`: SQLAlchemy writes the rows that it reads into its log."""

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__


class Secret(TypeDecorator[bytes]):
    """A secret that is stored as it is and does not show where rows are displayed."""

    impl = LargeBinary
    cache_ok = True

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """To bytes that do not show."""
        return value if value is None else SecretBytes(value)


class VersionRow(SQLModel, table=True):
    """A policy version under its first name.

    `position` is the order of registration; `sought` what text finds.
    """

    __tablename__ = "policy_version"
    __table_args__ = (
        UniqueConstraint("game", "name", "number", name="uq_policy_version_ref"),
        UniqueConstraint("digest", name="uq_policy_version_digest"),
        Index("ix_policy_version_game_author", "game", "author"),
        Index("ix_policy_version_game_status", "game", "status"),
        Index("ix_policy_version_code_digest", "code_digest"),
    )

    position: int | None = Field(default=None, primary_key=True)
    digest: str
    game: str
    name: str
    author: str
    number: int
    kind: str
    status: str
    status_reason: str
    description: str
    sought: str
    code_digest: str
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    provenance: dict[str, Any] = Field(sa_column=Column(JSON(), nullable=False))
    payload: str


class CreditRow(SQLModel, table=True):
    """A further name of a version: that of somebody who handed in the same content later."""

    __tablename__ = "policy_credit"
    __table_args__ = (
        UniqueConstraint("game", "name", "number", name="uq_policy_credit_ref"),
        UniqueConstraint("digest", "author", name="uq_policy_credit_author"),
        Index("ix_policy_credit_game_author", "game", "author"),
    )

    position: int | None = Field(default=None, primary_key=True)
    digest: str = Field(foreign_key="policy_version.digest")
    game: str
    name: str
    author: str
    number: int
    status: str
    status_reason: str
    description: str
    sought: str
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))


class LabelRow(SQLModel, table=True):
    """One label of one version."""

    __tablename__ = "policy_label"
    __table_args__ = (Index("ix_policy_label_key_value", "key", "value"),)

    digest: str = Field(primary_key=True, foreign_key="policy_version.digest")
    key: str = Field(primary_key=True)
    value: str


class ParentRow(SQLModel, table=True):
    """One line of ancestry; `place` keeps the order in which parents were named."""

    __tablename__ = "policy_parent"
    __table_args__ = (Index("ix_policy_parent_parent", "parent"),)

    child: str = Field(primary_key=True, foreign_key="policy_version.digest")
    place: int = Field(primary_key=True)
    parent: str = Field(foreign_key="policy_version.digest")
    relation: str


class StatusRow(SQLModel, table=True):
    """One entry of a version's status history; `ref` is a further name's, "" the first name's."""

    __tablename__ = "policy_status"
    __table_args__ = (Index("ix_policy_status_digest", "digest"),)

    position: int | None = Field(default=None, primary_key=True)
    digest: str = Field(foreign_key="policy_version.digest")
    status: str
    reason: str
    changed: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    ref: str = Field(default="", sa_column=Column(String(), nullable=False, server_default=""))


class AliasRow(SQLModel, table=True):
    """A movable name for a version."""

    __tablename__ = "policy_alias"

    game: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    digest: str = Field(foreign_key="policy_version.digest")
    protected: bool
    changed: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))


class AuthorRow(SQLModel, table=True):
    """An author, or another account.

    `skeleton` finds names that read alike; `token` is a hash, "" without one; `expires` is about
    the token; None in `day_submissions` or `day_seconds` leaves the quota to a default.
    """

    __tablename__ = "policy_author"
    __table_args__ = (
        Index("ix_policy_author_skeleton", "skeleton"),
        Index("ix_policy_author_token", "token"),
    )

    name: str = Field(primary_key=True)
    skeleton: str
    token: str = Field(repr=False)
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    origin: str
    role: str = Field(
        default="author", sa_column=Column(String(), nullable=False, server_default="author")
    )
    expires: datetime | None = Field(default=None, sa_column=Column(UtcDateTime(), nullable=True))
    disabled: bool = Field(
        default=False, sa_column=Column(Boolean(), nullable=False, server_default=false())
    )
    day_submissions: int | None = None
    day_seconds: float | None = None


class InviteRow(SQLModel, table=True):
    """An invitation.  `code` is the hash of one; `name` whom it is for, "" for anybody."""

    __tablename__ = "policy_invite"

    code: str = Field(primary_key=True, repr=False)
    role: str
    name: str
    uses: int
    used: int
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    expires: datetime | None = Field(sa_column=Column(UtcDateTime(), nullable=True))


class EventRow(SQLModel, table=True):
    """One entry of the audit log.  Rows are added and never changed."""

    __tablename__ = "policy_event"
    __table_args__ = (
        Index("ix_policy_event_subject", "subject"),
        Index("ix_policy_event_who", "who"),
    )

    position: int | None = Field(default=None, primary_key=True)
    moment: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    who: str
    what: str
    subject: str
    detail: str


class SpendingRow(SQLModel, table=True):
    """What an author's submissions of one day (in UTC) have cost, in processor seconds."""

    __tablename__ = "policy_spending"

    skeleton: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    submissions: int
    seconds: float


class SeasonRow(SQLModel, table=True):
    """A season and its secret."""

    __tablename__ = "policy_season"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    commitment: str
    opened: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    closed: datetime | None = Field(sa_column=Column(UtcDateTime(), nullable=True))
    given: bool
    key: bytes = Field(repr=False, sa_column=Column(Secret(), nullable=False))


class TournamentRow(SQLModel, table=True):
    """A tournament; `season` and `entrants` are set when it is frozen, `certificate` at its end."""

    __tablename__ = "policy_tournament"

    name: str = Field(primary_key=True)
    game: str
    created: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    opens: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    closes: datetime = Field(sa_column=Column(UtcDateTime(), nullable=False))
    entries: int
    matches: int
    hidden: list[str] = Field(sa_column=Column(JSON(), nullable=False))
    frozen: datetime | None = Field(default=None, sa_column=Column(UtcDateTime(), nullable=True))
    season: int | None = None
    entrants: list[list[str]] = Field(sa_column=Column(JSON(), nullable=False))
    certificate: str = ""


TABLES = tuple(
    SQLModel.metadata.tables[f"policy_{name}"]
    for name in (
        "version",
        "credit",
        "label",
        "parent",
        "status",
        "alias",
        "author",
        "invite",
        "event",
        "spending",
        "season",
        "tournament",
    )
)
"""The tables themselves, for the migrations and their tests."""
