"""Forks, mirrors and migrations of repositories."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the number of forks."""
    op.add_column(
        "repositories", sa.Column("fork_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
