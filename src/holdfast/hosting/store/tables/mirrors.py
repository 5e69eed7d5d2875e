"""Migrations of repositories from other services, and mirrors in both directions."""

from sqlalchemy import Column, Index, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, to, words

__all__ = ["migrations", "mirrors", "push_mirrors"]

# The progress of the migration that created a repository: `done` of `total` items of the current phase.
migrations = Table(
    "migrations",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "actor_id", optional=True, index=True),
    words("status"),
    words("phase", ""),
    number("done"),
    number("total"),
    number("started_at"),
    number("updated_at"),
)

# A pull mirror: a repository that is updated from a remote one. Secrets are encrypted.
mirrors = Table(
    "mirrors",
    metadata,
    to("repositories", "repository_id", primary=True),
    words("remote_address"),
    words("username", ""),
    words("secret", ""),
    # In seconds; 0 means only on request.
    number("interval"),
    Column("next_sync_at", Id, nullable=True, index=True),
    words("last_error", ""),
    number("created_at"),
)

push_mirrors = Table(
    "push_mirrors",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("name"),
    words("remote_address"),
    words("username", ""),
    words("secret", ""),
    number("interval"),
    flag("sync_on_commit"),
    Column("next_sync_at", Id, nullable=True, index=True),
    # The end of the claim of the process that pushes it.
    number("claimed_until"),
    # The version of the repository's log that was pushed.
    number("pushed_version"),
    words("last_error", ""),
    number("last_update"),
    number("created_at"),
    UniqueConstraint("repository_id", "name"),
    Index(None, "sync_on_commit", "repository_id"),
    sqlite_autoincrement=True,
)
