"""When the size of a repository was measured."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the time; all that were pushed to are measured again."""
    op.add_column(
        "repositories", sa.Column("measured_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
