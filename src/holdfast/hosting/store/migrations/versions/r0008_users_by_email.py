"""The people behind the e-mail addresses of commits are looked up whenever a push is recorded for webhooks."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make an index of e-mail addresses."""
    op.create_index("ix_users_email", "users", ["email"])
