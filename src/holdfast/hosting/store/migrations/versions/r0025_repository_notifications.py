"""Notifications about repositories, which have no issue."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
CONDITION = sa.text("issue_id IS NULL")


def upgrade() -> None:
    """Let the issue be absent; SQLite copies the table for that."""
    options = {"sqlite_autoincrement": True}
    with op.batch_alter_table("notifications", table_kwargs=options) as batch:
        batch.alter_column("issue_id", existing_type=NUMBER, existing_nullable=False, nullable=True)
    op.create_index(
        op.f("ix_notifications_user_id"),
        "notifications",
        ["user_id"],
        sqlite_where=CONDITION,
        postgresql_where=CONDITION,
    )
