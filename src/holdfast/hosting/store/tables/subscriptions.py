"""Repositories that users have starred, and those they watch."""

from sqlalchemy import Index, Table

from holdfast.hosting.store.tables.columns import metadata, number, to

__all__ = ["stars", "watches"]

stars = Table(
    "stars",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    number("created_at"),
    Index(None, "repository_id", "created_at", "user_id"),
)

watches = Table(
    "watches",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    number("created_at"),
    Index(None, "repository_id", "created_at", "user_id"),
)
