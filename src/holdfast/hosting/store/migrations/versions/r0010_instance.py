"""Which installation the database belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the table; the next start fills it."""
    op.create_table(
        "instance",
        sa.Column("instance_id", sa.String(), nullable=False),
        sa.Column("key_fingerprint", sa.String(), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("instance_id", name="pk_instance"),
    )
