"""Until when the former ref targets of each repository were collected as garbage."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Add the column; the next garbage collection considers all former targets, also those missed before."""
    column = sa.Column("collected_until", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    op.add_column("repositories", column)
