"""Commit statuses, reported by checks."""

from sqlalchemy import Index, Table

from holdfast.hosting.store.tables.columns import key, metadata, number, to, words

__all__ = ["commit_statuses"]

# Append-only: the newest row of each context of a commit counts. The first index finds these, the second has the
# order of lists.
commit_statuses = Table(
    "commit_statuses",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("sha"),
    words("context"),
    words("state"),
    words("description", ""),
    words("target_url", ""),
    to("users", "creator_id", optional=True, index=True),
    number("created_at"),
    Index(None, "repository_id", "sha", "context", "id"),
    Index(None, "repository_id", "sha", "id"),
    sqlite_autoincrement=True,
)
