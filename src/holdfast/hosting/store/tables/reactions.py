"""Reactions to issues and comments, and subscriptions to single issues."""

from sqlalchemy import Column, ForeignKey, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, to, words

__all__ = ["issue_subscriptions", "reactions"]


def reacted_to(table: str, name: str) -> Column[int]:
    """Return the foreign key column of the target of a reaction (ON DELETE CASCADE)."""
    return Column(name, Id, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=True)


# A reaction is to an issue or to a comment. NULLs are distinct in a unique constraint, so each constraint applies
# to one kind of target only.
reactions = Table(
    "reactions",
    metadata,
    key(),
    reacted_to("issues", "issue_id"),
    reacted_to("comments", "comment_id"),
    to("users", "user_id", index=True),
    words("content"),
    number("created_at"),
    UniqueConstraint("issue_id", "user_id", "content"),
    UniqueConstraint("comment_id", "user_id", "content"),
    sqlite_autoincrement=True,
)

# A user's choice for an issue; without a row, watchers of the repository and participants are subscribed.
issue_subscriptions = Table(
    "issue_subscriptions",
    metadata,
    to("issues", "issue_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    flag("is_subscribed"),
    number("created_at"),
)
