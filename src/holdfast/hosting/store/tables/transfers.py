"""Pending transfers of repositories, which the new owner has to accept."""

from sqlalchemy import Table

from holdfast.hosting.store.tables.columns import metadata, number, to, words

__all__ = ["repository_transfers"]

repository_transfers = Table(
    "repository_transfers",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "recipient_id", index=True),
    to("users", "actor_id", index=True),
    number("created_at"),
    # JSON: the teams of the new owner that get access.
    words("team_ids", "[]"),
)
