"""Reviews of pull requests and their line comments."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def to(
    table: str, name: str, *, optional: bool = False, primary: bool = False, on_delete: str = ""
) -> sa.Column[int]:
    """Make a column that points to a row of another table."""
    rule = on_delete or ("SET NULL" if optional else "CASCADE")
    reference = sa.ForeignKey(f"{table}.id", ondelete=rule)
    return sa.Column(name, NUMBER, reference, nullable=optional, primary_key=primary)


def words(name: str, default: str | None = None) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def flag(name: str) -> sa.Column[bool]:
    """Make a column of truth values."""
    return sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False)


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "reviews",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("issues", "issue_id"),
        to("users", "reviewer_id", optional=True),
        to("teams", "team_id", optional=True, on_delete="CASCADE"),
        words("state"),
        words("body", ""),
        words("commit_id", ""),
        flag("is_official"),
        flag("is_dismissed"),
        number("created_at"),
        number("updated_at"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_reviews_issue_id_id"), "reviews", ["issue_id", "id"])
    op.create_index(op.f("ix_reviews_reviewer_id"), "reviews", ["reviewer_id"])
    op.create_index(op.f("ix_reviews_team_id"), "reviews", ["team_id"])
    for name, column, state in (
        ("ix_reviews_pending", "reviewer_id", "PENDING"),
        ("ix_reviews_requested_user", "reviewer_id", "REQUEST_REVIEW"),
        ("ix_reviews_requested_team", "team_id", "REQUEST_REVIEW"),
    ):
        where = sa.text(f"state = '{state}'")
        op.create_index(
            op.f(name), "reviews", ["issue_id", column], unique=True, sqlite_where=where, postgresql_where=where
        )
    op.create_table(
        "review_comments",
        to("comments", "comment_id", primary=True),
        to("reviews", "review_id"),
        words("path"),
        number("line"),
        flag("is_old_side"),
        words("commit_id"),
        words("line_commit_id"),
        words("blob_id"),
        words("diff_hunk", ""),
        to("users", "resolver_id", optional=True),
        number("resolved_at"),
    )
    op.create_index(op.f("ix_review_comments_review_id"), "review_comments", ["review_id"])
    op.create_index(op.f("ix_review_comments_resolver_id"), "review_comments", ["resolver_id"])
