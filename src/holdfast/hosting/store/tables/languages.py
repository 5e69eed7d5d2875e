"""Language statistics of repositories, computed in the background."""

from sqlalchemy import Table

from holdfast.hosting.store.tables.columns import metadata, number, to, words

__all__ = ["repository_languages"]

repository_languages = Table(
    "repository_languages",
    metadata,
    to("repositories", "repository_id", primary=True),
    # The version of the repository's log up to which they were computed.
    number("version"),
    # The tree they are of; empty if it could not be read.
    words("tree", ""),
    # JSON: the number of bytes by language, the most first.
    words("counts", "{}"),
)
