"""Language statistics of repositories, computed in the background."""

from sqlalchemy import Table

from holdfast.hosting.store.tables.columns import metadata, number, to, words

__all__ = ["repository_languages"]

repository_languages = Table(
    "repository_languages",
    metadata,
    to("repositories", "repository_id", primary=True),
    # The version of the repository's log that they were computed from.
    number("version"),
    # The tree that they were computed from; empty if it could not be read.
    words("tree", ""),
    # JSON: the number of bytes by language, in descending order.
    words("counts", "{}"),
)
