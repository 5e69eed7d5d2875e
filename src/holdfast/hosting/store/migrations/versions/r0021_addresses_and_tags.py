"""E-mail addresses of users beside the main one, protected tags, and transfers that wait for the new owner."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def to(table: str, name: str, *, primary: bool = False) -> sa.Column[int]:
    """Make a column that points to a row of another table, and goes with it."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=False, primary_key=primary)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "email_addresses",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("users", "user_id"),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("folded_email", sa.String(), nullable=False),
        number("created_at"),
        sa.UniqueConstraint("folded_email"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_email_addresses_user_id"), "email_addresses", ["user_id"])
    op.create_table(
        "tag_protections",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("repositories", "repository_id"),
        sa.Column("name_pattern", sa.String(), nullable=False),
        sa.Column("users", sa.String(), server_default="[]", nullable=False),
        sa.Column("teams", sa.String(), server_default="[]", nullable=False),
        number("created_at"),
        number("updated_at"),
        sa.UniqueConstraint("repository_id", "name_pattern"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "repository_transfers",
        to("repositories", "repository_id", primary=True),
        to("users", "recipient_id"),
        to("users", "actor_id"),
        number("created_at"),
    )
    for column in ("recipient_id", "actor_id"):
        op.create_index(op.f(f"ix_repository_transfers_{column}"), "repository_transfers", [column])
