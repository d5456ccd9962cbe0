"""Tournaments: when entries count, who was frozen into the final, which season it was played in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "policy_tournament",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("opens", _MOMENT, nullable=False),
        sa.Column("closes", _MOMENT, nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("hidden", sa.JSON(), nullable=False),
        sa.Column("frozen", _MOMENT, nullable=True),
        sa.Column("season", sa.Integer(), nullable=True),
        sa.Column("entrants", sa.JSON(), nullable=False),
        sa.Column("certificate", sa.String(), nullable=False),
    )


def downgrade() -> None:
    """Removes it."""
    op.drop_table("policy_tournament")
