"""Policy versions, their labels, parents, status history, and aliases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Builds the first tables."""
    op.create_table(
        "policy_version",
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("status_reason", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("sought", sa.String(), nullable=False),
        sa.Column("code_digest", sa.String(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("provenance", sa.JSON(), nullable=False),
        # Last: a scan of the columns before it then reads none of its overflow pages.
        sa.Column("payload", sa.String(), nullable=False),
        sa.UniqueConstraint("game", "name", "number", name="uq_policy_version_ref"),
        sa.UniqueConstraint("digest", name="uq_policy_version_digest"),
    )
    op.create_index("ix_policy_version_game_author", "policy_version", ["game", "author"])
    op.create_index("ix_policy_version_game_status", "policy_version", ["game", "status"])
    op.create_index("ix_policy_version_code_digest", "policy_version", ["code_digest"])
    op.create_table(
        "policy_label",
        _digest_column("digest", primary_key=True),
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("value", sa.String(), nullable=False),
    )
    op.create_index("ix_policy_label_key_value", "policy_label", ["key", "value"])
    op.create_table(
        "policy_parent",
        _digest_column("child", primary_key=True),
        sa.Column("place", sa.Integer(), primary_key=True),
        _digest_column("parent"),
        sa.Column("relation", sa.String(), nullable=False),
    )
    op.create_index("ix_policy_parent_parent", "policy_parent", ["parent"])
    op.create_table(
        "policy_status",
        sa.Column("position", sa.Integer(), primary_key=True),
        _digest_column("digest"),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("changed", _MOMENT, nullable=False),
    )
    op.create_index("ix_policy_status_digest", "policy_status", ["digest"])
    op.create_table(
        "policy_alias",
        sa.Column("game", sa.String(), primary_key=True),
        sa.Column("name", sa.String(), primary_key=True),
        _digest_column("digest"),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("changed", _MOMENT, nullable=False),
    )


def downgrade() -> None:
    """Removes them."""
    for table in ("alias", "status", "parent", "label", "version"):
        op.drop_table(f"policy_{table}")


def _digest_column(name: str, *, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(
        name,
        sa.String(),
        sa.ForeignKey("policy_version.digest"),
        primary_key=primary_key,
        nullable=False,
    )
