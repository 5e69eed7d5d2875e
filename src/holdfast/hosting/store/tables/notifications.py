"""Notifications: one thread for each user and issue."""

from sqlalchemy import Column, Index, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import key, metadata, number, only, to

__all__ = ["notifications"]

notifications = Table(
    "notifications",
    metadata,
    key(),
    to("users", "user_id"),
    to("repositories", "repository_id", index=True),
    to("issues", "issue_id", index=True),
    # The comment it is about, if it is about one.
    to("comments", "comment_id", optional=True, index=True),
    Column("status", String, nullable=False),
    number("created_at"),
    number("updated_at"),
    UniqueConstraint("user_id", "issue_id"),
    Index(None, "user_id", "repository_id"),
    # In the order of lists; one has only what is not read, which are few of all.
    Index(None, "user_id", "updated_at", "id", "status", "repository_id"),
    Index(None, "user_id", "updated_at", "id", "repository_id", "status", **only("status <> 'read'")),
    sqlite_autoincrement=True,
)
