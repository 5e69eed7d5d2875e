"""Until when an access token is good."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the time of expiry; 0 is never."""
    op.add_column("tokens", sa.Column("expires_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
