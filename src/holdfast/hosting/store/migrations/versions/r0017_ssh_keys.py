"""SSH keys of users and repositories, and the host keys of the service."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def to(table: str, name: str) -> sa.Column[int]:
    """Make a column that may point to a row of another table, and goes with it."""
    return sa.Column(name, NUMBER, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=True)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "ssh_keys",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("users", "user_id"),
        to("repositories", "repository_id"),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False, unique=True),
        sa.Column("is_read_only", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        number("created_at"),
        number("last_used_at"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_ssh_keys_user_id"), "ssh_keys", ["user_id"])
    op.create_index(op.f("ix_ssh_keys_repository_id"), "ssh_keys", ["repository_id"])
    op.create_table(
        "ssh_host_keys",
        sa.Column("algorithm", sa.String(), primary_key=True),
        sa.Column("private_key", sa.String(), nullable=False),
        number("created_at"),
    )
