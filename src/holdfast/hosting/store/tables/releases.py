"""Releases, and the files attached to releases, issues and comments."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, UniqueConstraint, text

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, to, words

__all__ = ["attachments", "releases"]

# A release belongs to a tag; the tag of a draft need not exist yet.
releases = Table(
    "releases",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("tag_name"),
    words("target", ""),
    words("name", ""),
    words("body", ""),
    flag("is_draft"),
    flag("is_prerelease"),
    to("users", "author_id", optional=True, index=True),
    number("created_at"),
    number("published_at"),
    UniqueConstraint("repository_id", "tag_name"),
    Index(None, "repository_id", "id"),
    sqlite_autoincrement=True,
)


def holder(table: str, name: str) -> Column[int]:
    """Return the foreign key column of the holder of an attachment (ON DELETE CASCADE)."""
    return Column(name, Id, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=True, index=True)


# A file is attached to one release, issue or comment; its content is in the object store, by the uuid.
attachments = Table(
    "attachments",
    metadata,
    key(),
    Column("uuid", String, nullable=False, unique=True),
    to("repositories", "repository_id", index=True),
    holder("releases", "release_id"),
    holder("issues", "issue_id"),
    holder("comments", "comment_id"),
    words("name"),
    Column("size", BigInteger, nullable=False),
    words("digest"),
    to("users", "uploader_id", optional=True, index=True),
    Column("download_count", BigInteger, nullable=False, server_default=text("0")),
    number("created_at"),
    # File names are unique in a release; NULLs are distinct, so this does not apply to other attachments.
    UniqueConstraint("release_id", "name"),
    sqlite_autoincrement=True,
)
