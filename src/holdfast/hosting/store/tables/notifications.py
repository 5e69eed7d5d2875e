"""Notifications: one thread for each user and issue, or repository."""

from sqlalchemy import Column, ForeignKey, Index, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import Id, key, metadata, number, only, to

__all__ = ["notifications"]

notifications = Table(
    "notifications",
    metadata,
    key(),
    to("users", "user_id"),
    to("repositories", "repository_id", index=True),
    # A thread without an issue is about the repository: a transfer that is pending for the user.
    Column("issue_id", Id, ForeignKey("issues.id", ondelete="CASCADE"), nullable=True, index=True),
    # The comment it is about, if any.
    to("comments", "comment_id", optional=True, index=True),
    Column("status", String, nullable=False),
    number("created_at"),
    number("updated_at"),
    UniqueConstraint("user_id", "issue_id"),
    Index(None, "user_id", "repository_id"),
    Index(None, "user_id", **only("issue_id IS NULL")),
    # In the order of lists; one is a partial index of the unread ones, which are few.
    Index(None, "user_id", "updated_at", "id", "status", "repository_id"),
    Index(None, "user_id", "updated_at", "id", "repository_id", "status", **only("status <> 'read'")),
    sqlite_autoincrement=True,
)
