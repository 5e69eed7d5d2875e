"""Notifications, reactions, subscriptions to single issues, and an index of pinned issues."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def to(table: str, name: str, *, optional: bool = False, primary: bool = False) -> sa.Column[int]:
    """Make a column that points to a row of another table, and goes with it."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=optional, primary_key=primary)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "reactions",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("issues", "issue_id", optional=True),
        to("comments", "comment_id", optional=True),
        to("users", "user_id"),
        sa.Column("content", sa.String(), nullable=False),
        number("created_at"),
        sa.UniqueConstraint("issue_id", "user_id", "content"),
        sa.UniqueConstraint("comment_id", "user_id", "content"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_reactions_user_id"), "reactions", ["user_id"])
    op.create_table(
        "issue_subscriptions",
        to("issues", "issue_id", primary=True),
        to("users", "user_id", primary=True),
        sa.Column("is_subscribed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        number("created_at"),
    )
    op.create_index(op.f("ix_issue_subscriptions_user_id"), "issue_subscriptions", ["user_id"])
    op.create_table(
        "notifications",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("users", "user_id"),
        to("repositories", "repository_id"),
        to("issues", "issue_id"),
        sa.Column("comment_id", NUMBER, sa.ForeignKey("comments.id", ondelete="SET NULL"), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        number("created_at"),
        number("updated_at"),
        sa.UniqueConstraint("user_id", "issue_id"),
        sqlite_autoincrement=True,
    )
    for columns in (("repository_id",), ("issue_id",), ("comment_id",), ("user_id", "status", "updated_at")):
        op.create_index(op.f(f"ix_notifications_{'_'.join(columns)}"), "notifications", list(columns))
    pinned = sa.text("pin_order > 0")
    op.create_index(
        op.f("ix_issues_repository_id_pin_order"),
        "issues",
        ["repository_id", "pin_order"],
        sqlite_where=pinned,
        postgresql_where=pinned,
    )
