"""When and where the browsers that are logged in were last seen."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add what people recognise their browsers by."""
    op.add_column(
        "sessions", sa.Column("last_seen_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
    for name in ("user_agent", "address"):
        op.add_column("sessions", sa.Column(name, sa.String(), server_default=sa.text("''"), nullable=False))
