"""Commit statuses, releases and attachments."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def words(name: str, default: str | None = None) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def to(table: str, name: str, *, optional: bool = False) -> sa.Column[int]:
    """Make a column that points to a row of another table."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="SET NULL" if optional else "CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=optional)


def flag(name: str) -> sa.Column[bool]:
    """Make a column of true or false."""
    return sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False)


def holder(table: str, name: str) -> sa.Column[int]:
    """Make a column of what a file is attached to."""
    return sa.Column(name, NUMBER, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=True)


def upgrade() -> None:
    """Create the tables; every repository has releases, as new ones have."""
    op.add_column("repositories", number("release_count"))
    op.execute("UPDATE repositories SET has_releases = true")
    create_statuses()
    create_releases()
    create_attachments()


def create_statuses() -> None:
    """Create the table of commit statuses."""
    op.create_table(
        "commit_statuses",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("repositories", "repository_id"),
        words("sha"),
        words("context"),
        words("state"),
        words("description", ""),
        words("target_url", ""),
        to("users", "creator_id", optional=True),
        number("created_at"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_commit_statuses_repository_id_sha_context_id"),
        "commit_statuses",
        ["repository_id", "sha", "context", "id"],
    )
    op.create_index(
        op.f("ix_commit_statuses_repository_id_sha_id"), "commit_statuses", ["repository_id", "sha", "id"]
    )
    op.create_index(op.f("ix_commit_statuses_creator_id"), "commit_statuses", ["creator_id"])


def create_releases() -> None:
    """Create the table of releases."""
    op.create_table(
        "releases",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("repositories", "repository_id"),
        words("tag_name"),
        words("target", ""),
        words("name", ""),
        words("body", ""),
        flag("is_draft"),
        flag("is_prerelease"),
        to("users", "author_id", optional=True),
        number("created_at"),
        number("published_at"),
        sa.UniqueConstraint("repository_id", "tag_name"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_releases_repository_id_id"), "releases", ["repository_id", "id"])
    op.create_index(op.f("ix_releases_author_id"), "releases", ["author_id"])


def create_attachments() -> None:
    """Create the table of files attached to releases, issues and comments."""
    op.create_table(
        "attachments",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        words("uuid"),
        to("repositories", "repository_id"),
        holder("releases", "release_id"),
        holder("issues", "issue_id"),
        holder("comments", "comment_id"),
        words("name"),
        sa.Column("size", sa.BigInteger(), nullable=False),
        words("digest"),
        to("users", "uploader_id", optional=True),
        number("download_count"),
        number("created_at"),
        sa.UniqueConstraint("uuid"),
        sa.UniqueConstraint("release_id", "name"),
        sqlite_autoincrement=True,
    )
    for column in ("repository_id", "release_id", "issue_id", "comment_id", "uploader_id"):
        op.create_index(op.f(f"ix_attachments_{column}"), "attachments", [column])
