"""Uploaded avatars of users, organizations and repositories."""

from sqlalchemy import Column, LargeBinary, Table

from holdfast.hosting.store.tables.columns import metadata, to, words

__all__ = ["account_avatars", "repository_avatars"]

account_avatars = Table(
    "account_avatars",
    metadata,
    to("users", "account_id", primary=True),
    words("media_type"),
    Column("content", LargeBinary, nullable=False),
)

repository_avatars = Table(
    "repository_avatars",
    metadata,
    to("repositories", "repository_id", primary=True),
    words("media_type"),
    Column("content", LargeBinary, nullable=False),
)
