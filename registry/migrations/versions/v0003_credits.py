"""Further names of versions: whoever hands in the same content later gets one of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table, and to the history whose name a change was about."""
    op.create_table(
        "policy_credit",
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("digest", sa.String(), sa.ForeignKey("policy_version.digest"), nullable=False),
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("status_reason", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("sought", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("game", "name", "number", name="uq_policy_credit_ref"),
        sa.UniqueConstraint("digest", "author", name="uq_policy_credit_author"),
    )
    op.create_index("ix_policy_credit_game_author", "policy_credit", ["game", "author"])
    op.add_column("policy_status", sa.Column("ref", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    """Removes them; what was under a further name is gone, the content stays."""
    op.execute("DELETE FROM policy_status WHERE ref <> ''")
    op.drop_column("policy_status", "ref")
    op.drop_table("policy_credit")
