"""Password attempts whose result is pending, apart from those that failed."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Add the columns; attempts that were pending before count as failed."""
    for name in ("pending", "pending_at"):
        op.add_column(
            "login_failures", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
