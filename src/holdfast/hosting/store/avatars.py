"""Uploaded avatars, one for each account and repository."""

import hashlib
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import account_avatars, repositories, repository_avatars, users

__all__ = [
    "Avatar",
    "copy_avatar",
    "find_account_avatar",
    "find_repository_avatar",
    "set_account_avatar",
    "set_repository_avatar",
]


class Avatar(msgspec.Struct, frozen=True):
    """An uploaded picture."""

    media_type: str
    content: bytes


OF_ACCOUNT: Final = Statement(
    select(account_avatars.c.media_type, account_avatars.c.content).where(
        account_avatars.c.account_id == bindparam("id")
    )
)
OF_REPOSITORY: Final = Statement(
    select(repository_avatars.c.media_type, repository_avatars.c.content).where(
        repository_avatars.c.repository_id == bindparam("id")
    )
)


def find_account_avatar(database: Database, account_id: int) -> Avatar | None:
    """Return the uploaded avatar of a user or an organization; None if there is none."""
    row = database.row(OF_ACCOUNT, id=account_id)
    return None if row is None else Avatar(row[0], bytes(row[1]))


def find_repository_avatar(database: Database, repository_id: int) -> Avatar | None:
    """Return the uploaded avatar of a repository; None if there is none."""
    row = database.row(OF_REPOSITORY, id=repository_id)
    return None if row is None else Avatar(row[0], bytes(row[1]))


def set_account_avatar(database: Database, account: Account, avatar: Avatar | None) -> None:
    """Replace the avatar of a user or an organization, or remove it."""
    with database.write() as connection:
        # Locks the row of the account against another replacement.
        statement = update(users).where(users.c.id == account.id).values(name=users.c.name)
        if not connection.execute(statement).rowcount:
            return
        connection.execute(delete(account_avatars).where(account_avatars.c.account_id == account.id))
        if avatar is not None:
            row = {"account_id": account.id, "media_type": avatar.media_type, "content": avatar.content}
            connection.execute(insert(account_avatars), row)


def set_repository_avatar(connection: Connection, repository: Repository, avatar: Avatar | None) -> None:
    """Replace the avatar of a repository, or remove it."""
    digest = "" if avatar is None else hashlib.sha256(avatar.content).hexdigest()[:32]
    # Locks the row of the repository, so that it exists until the end of the transaction.
    statement = update(repositories).where(repositories.c.id == repository.id).values(avatar=digest)
    if not connection.execute(statement).rowcount:
        return
    connection.execute(delete(repository_avatars).where(repository_avatars.c.repository_id == repository.id))
    if avatar is not None:
        row = {"repository_id": repository.id, "media_type": avatar.media_type, "content": avatar.content}
        connection.execute(insert(repository_avatars), row)


def copy_avatar(connection: Connection, source: Repository, number: int) -> None:
    """Copy the avatar of a repository to a new one."""
    kept = repository_avatars.c
    names = ("repository_id", "media_type", "content")
    chosen = select(bindparam("number", number), kept.media_type, kept.content).where(
        kept.repository_id == source.id
    )
    connection.execute(insert(repository_avatars).from_select(names, chosen))
    connection.execute(update(repositories).where(repositories.c.id == number).values(avatar=source.avatar))
