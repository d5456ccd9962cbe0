"""Accounts: roles, expiry and quotas beside the authors' tokens; invitations; the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_ADDED = ("role", "expires", "disabled", "day_submissions", "day_seconds")


def upgrade() -> None:
    """Adds them; whoever has a token keeps it, as an author."""
    role = sa.Column("role", sa.String(), nullable=False, server_default="author")
    disabled: sa.Column[bool] = sa.Column(
        "disabled", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("policy_author", role)
    op.add_column("policy_author", sa.Column("expires", _MOMENT, nullable=True))
    op.add_column("policy_author", disabled)
    op.add_column("policy_author", sa.Column("day_submissions", sa.Integer(), nullable=True))
    op.add_column("policy_author", sa.Column("day_seconds", sa.Float(), nullable=True))
    op.create_index("ix_policy_author_token", "policy_author", ["token"])
    op.create_table(
        "policy_invite",
        sa.Column("code", sa.String(), primary_key=True),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("expires", _MOMENT, nullable=True),
    )
    op.create_table(
        "policy_event",
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("moment", _MOMENT, nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
    )
    op.create_index("ix_policy_event_subject", "policy_event", ["subject"])
    op.create_index("ix_policy_event_who", "policy_event", ["who"])


def downgrade() -> None:
    """Removes them; tokens stay, whatever their role was."""
    op.drop_table("policy_event")
    op.drop_table("policy_invite")
    op.drop_index("ix_policy_author_token", "policy_author")
    for column in reversed(_ADDED):
        op.drop_column("policy_author", column)
