"""Authors with their tokens, what their submissions cost, and the secrets of seasons."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from registry.naming import skeleton

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the tables; whoever has versions becomes an author without a token."""
    author = op.create_table(
        "policy_author",
        sa.Column("name", sa.String(), primary_key=True),
        # A change of what `skeleton` returns needs a revision that computes this column again.
        sa.Column("skeleton", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
    )
    op.create_index("ix_policy_author_skeleton", "policy_author", ["skeleton"])
    op.create_table(
        "policy_spending",
        sa.Column("skeleton", sa.String(), primary_key=True),
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
    )
    op.create_table(
        "policy_season",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("commitment", sa.String(), nullable=False),
        sa.Column("opened", _MOMENT, nullable=False),
        sa.Column("closed", _MOMENT, nullable=True),
        sa.Column("given", sa.Boolean(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
    )
    version = sa.table(
        "policy_version", sa.column("author", sa.String()), sa.column("created", _MOMENT)
    )
    first = sa.select(version.c.author, sa.func.min(version.c.created)).group_by(version.c.author)
    known = [
        {
            "name": name,
            "skeleton": skeleton(name),
            "token": "",
            "created": created,
            "origin": "operator",
        }
        for name, created in op.get_bind().execute(first)
    ]
    if known:
        op.bulk_insert(author, known)


def downgrade() -> None:
    """Removes them."""
    for table in ("season", "spending", "author"):
        op.drop_table(f"policy_{table}")
