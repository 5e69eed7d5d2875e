"""Protected tags: name patterns, and who may change the tags they match."""

from sqlalchemy import Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import key, metadata, number, to, words

__all__ = ["tag_protections"]

tag_protections = Table(
    "tag_protections",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("name_pattern"),
    # JSON: the ids of users and teams.
    words("users", "[]"),
    words("teams", "[]"),
    number("created_at"),
    number("updated_at"),
    UniqueConstraint("repository_id", "name_pattern"),
    sqlite_autoincrement=True,
)
