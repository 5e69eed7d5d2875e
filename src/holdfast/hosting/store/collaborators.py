"""Collaborators: users with access to a single repository."""

from collections.abc import Collection

from sqlalchemy import delete, func, select

from holdfast.hosting.store.accounts import COLUMNS, Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import collaborators, users

__all__ = ["collaborators_of", "is_collaborator", "modes_of", "remove_collaborator", "set_collaborator"]


def collaborators_of(
    database: Database, repository: Repository, *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of a repository's collaborators by name, and the total."""
    of_repository = collaborators.c.repository_id == repository.id
    with database.read() as connection:
        rows = connection.execute(
            select(*COLUMNS)
            .join(collaborators, collaborators.c.user_id == users.c.id)
            .where(of_repository)
            .order_by(users.c.folded_name)
            .offset(skip)
            .limit(limit)
        ).all()
        total = connection.execute(
            select(func.count()).select_from(collaborators).where(of_repository)
        ).scalar_one()
    return [account_from(tuple(row)) for row in rows], total


def modes_of(database: Database, repository: Repository, user_ids: Collection[int]) -> dict[int, int]:
    """Return the access mode of collaborators, by user id."""
    statement = select(collaborators.c.user_id, collaborators.c.mode).where(
        collaborators.c.repository_id == repository.id, collaborators.c.user_id.in_(user_ids)
    )
    with database.read() as connection:
        return {row.user_id: row.mode for row in connection.execute(statement)}


def is_collaborator(database: Database, repository: Repository, user: Account) -> bool:
    """Return whether a user is a collaborator."""
    statement = select(collaborators.c.mode).where(
        collaborators.c.repository_id == repository.id, collaborators.c.user_id == user.id
    )
    with database.read() as connection:
        return connection.execute(statement).one_or_none() is not None


def set_collaborator(database: Database, repository: Repository, user: Account, mode: int) -> None:
    """Add a collaborator, or change their access mode (upsert)."""
    row = {"repository_id": repository.id, "user_id": user.id, "mode": mode}
    statement = upsert(database, collaborators).on_conflict_do_update(
        index_elements=["repository_id", "user_id"], set_={"mode": mode}
    )
    with database.write() as connection:
        connection.execute(statement, row)


def remove_collaborator(database: Database, repository: Repository, user: Account) -> None:
    """Remove a collaborator; does nothing for other users."""
    with database.write() as connection:
        connection.execute(
            delete(collaborators).where(
                collaborators.c.repository_id == repository.id, collaborators.c.user_id == user.id
            )
        )
