"""Stored language statistics of repositories."""

from typing import Final

import msgspec
from sqlalchemy import bindparam, delete, insert, or_, select, update

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories, repository_languages

__all__ = ["LanguageStatistics", "find_statistics", "outdated_repositories", "save_statistics"]


class LanguageStatistics(msgspec.Struct, frozen=True):
    """The number of bytes by language in a tree, in descending order."""

    tree: str
    """Empty if the tree could not be read."""
    counts: dict[str, int]


OF_REPOSITORY: Final = Statement(
    select(repository_languages.c.tree, repository_languages.c.counts).where(
        repository_languages.c.repository_id == bindparam("repository_id")
    )
)


def find_statistics(database: Database, repository_id: int) -> LanguageStatistics | None:
    """Return the stored statistics of a repository; None if there are none yet."""
    row = database.row(OF_REPOSITORY, repository_id=repository_id)
    return None if row is None else LanguageStatistics(row[0], msgspec.json.decode(row[1], type=dict[str, int]))


def save_statistics(database: Database, repository: Repository, statistics: LanguageStatistics) -> None:
    """Store the statistics of a repository for the version they were computed from, and its main language."""
    row = {
        "repository_id": repository.id,
        "version": repository.version,
        "tree": statistics.tree,
        "counts": msgspec.json.encode(statistics.counts).decode(),
    }
    main = next(iter(statistics.counts), "")
    with database.write() as connection:
        # Locks the row of the repository, so that it exists until the end of the transaction.
        statement = update(repositories).where(repositories.c.id == repository.id).values(language=main)
        if not connection.execute(statement).rowcount:
            return
        connection.execute(
            delete(repository_languages).where(repository_languages.c.repository_id == repository.id)
        )
        connection.execute(insert(repository_languages), row)


def outdated_repositories(database: Database, limit: int) -> list[int]:
    """Return repositories that were written to since their statistics were computed, by id."""
    kept = repository_languages.c
    statement = (
        select(repositories.c.id)
        .outerjoin(repository_languages, kept.repository_id == repositories.c.id)
        .where(~repositories.c.is_empty, or_(kept.version.is_(None), kept.version < repositories.c.version))
        .order_by(repositories.c.id)
        .limit(limit)
    )
    with database.read() as connection:
        return list(connection.execute(statement).scalars())
