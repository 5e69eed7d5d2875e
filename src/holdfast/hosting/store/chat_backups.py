"""Chat backups uploaded by users: rows, files and shares; the content is in the object store."""

import time
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec
from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, NoSuchChatBackup, TooManyAtOnce
from holdfast.hosting.store.accounts import COLUMNS as ACCOUNT
from holdfast.hosting.store.accounts import Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.tables import (
    chat_backup_files,
    chat_backup_parts,
    chat_backup_shares,
    chat_backups,
    users,
)

__all__ = [
    "ChatBackup",
    "ChatBackupFile",
    "ChatBackupPart",
    "ChatState",
    "add_share",
    "delete_backup",
    "existing_parts",
    "files_of",
    "find_backup",
    "find_by_id",
    "is_shared_with",
    "list_all",
    "list_owned",
    "list_shared",
    "parts_of",
    "remove_share",
    "rename_backup",
    "shares_of",
    "used_by",
]

ChatState = Literal["uploading", "complete"]
LONGEST_LIST: Final = 1000


class ChatBackup(msgspec.Struct, frozen=True):
    """An uploaded backup; the fields are the columns of the table, in this order."""

    id: int
    uuid: str
    owner_id: int
    name: str
    state: ChatState
    kind: str
    """The kind of backup that was detected when the upload was complete."""
    is_folder: bool
    size: int
    created_at: int
    updated_at: int


class ChatBackupFile(msgspec.Struct, frozen=True):
    """A file of a backup; the fields are the columns of the table, in this order."""

    id: int
    backup_id: int
    position: int
    path: str
    size: int
    received: int


class ChatBackupPart(msgspec.Struct, frozen=True):
    """A part of a file, stored as one object."""

    file_id: int
    start: int
    size: int
    uuid: str


COLUMNS: Final = tuple(chat_backups.c[name] for name in ChatBackup.__struct_fields__)
FILE_COLUMNS: Final = tuple(chat_backup_files.c[name] for name in ChatBackupFile.__struct_fields__)
PART_COLUMNS: Final = tuple(chat_backup_parts.c[name] for name in ChatBackupPart.__struct_fields__)


def find_backup(database: Database, uuid: str) -> ChatBackup:
    """Return a backup by its uuid."""
    with database.read() as connection:
        row = connection.execute(select(*COLUMNS).where(chat_backups.c.uuid == uuid)).one_or_none()
    if row is None:
        raise NoSuchChatBackup
    return ChatBackup(*row)


def find_by_id(database: Database, number: int) -> ChatBackup:
    """Return a backup by id."""
    with database.read() as connection:
        row = connection.execute(select(*COLUMNS).where(chat_backups.c.id == number)).one_or_none()
    if row is None:
        raise NoSuchChatBackup
    return ChatBackup(*row)


def list_owned(database: Database, owner: Account) -> list[ChatBackup]:
    """Return the backups of a user, newest first."""
    query = select(*COLUMNS).where(chat_backups.c.owner_id == owner.id)
    with database.read() as connection:
        rows = connection.execute(query.order_by(chat_backups.c.id.desc()).limit(LONGEST_LIST))
        return [ChatBackup(*row) for row in rows]


def list_shared(database: Database, user: Account) -> list[tuple[ChatBackup, Account]]:
    """Return the backups that others share with a user, and their owners, newest first."""
    query = (
        select(*COLUMNS, *ACCOUNT)
        .join_from(chat_backup_shares, chat_backups, chat_backups.c.id == chat_backup_shares.c.backup_id)
        .join(users, users.c.id == chat_backups.c.owner_id)
        .where(chat_backup_shares.c.user_id == user.id, chat_backups.c.state == "complete")
        .order_by(chat_backups.c.id.desc())
        .limit(LONGEST_LIST)
    )
    with database.read() as connection:
        return [with_owner(tuple(row)) for row in connection.execute(query)]


def list_all(database: Database, *, skip: int, limit: int) -> tuple[list[tuple[ChatBackup, Account]], int, int]:
    """Return one page of all backups with their owners, newest first, their number and their total size."""
    query = (
        select(*COLUMNS, *ACCOUNT)
        .join_from(chat_backups, users, users.c.id == chat_backups.c.owner_id)
        .order_by(chat_backups.c.id.desc())
        .offset(skip)
        .limit(limit)
    )
    totals = select(func.count(), func.coalesce(func.sum(chat_backups.c.size), 0)).select_from(chat_backups)
    with database.read() as connection:
        rows = [with_owner(tuple(row)) for row in connection.execute(query)]
        count, size = connection.execute(totals).one()
    return rows, int(count), int(size)


def with_owner(row: tuple[Any, ...]) -> tuple[ChatBackup, Account]:
    """Build a backup and its owner from their columns."""
    return ChatBackup(*row[: len(COLUMNS)]), account_from(row, len(COLUMNS))


def used_by(connection: Connection, owner: Account) -> tuple[int, int]:
    """Return how many backups a user has, including those being uploaded, and their size in bytes."""
    query = select(func.count(), func.coalesce(func.sum(chat_backups.c.size), 0))
    count, size = connection.execute(query.where(chat_backups.c.owner_id == owner.id)).one()
    return int(count), int(size)


def rename_backup(database: Database, backup: ChatBackup, name: str) -> ChatBackup:
    """Rename a backup."""
    renamed = update(chat_backups).where(chat_backups.c.id == backup.id).values(name=name).returning(*COLUMNS)
    with database.write() as connection:
        row = connection.execute(renamed).one_or_none()
    if row is None:
        raise NoSuchChatBackup
    return ChatBackup(*row)


def delete_backup(database: Database, backup: ChatBackup, *, idle_since: int | None = None) -> list[str]:
    """Delete a backup with its files, parts and shares; return the uuids of the parts, now garbage.

    With `idle_since`, only an upload in progress to which nothing was added since that time is deleted.
    """
    parts = (
        select(chat_backup_parts.c.uuid)
        .join(chat_backup_files, chat_backup_files.c.id == chat_backup_parts.c.file_id)
        .where(chat_backup_files.c.backup_id == backup.id)
    )
    locked = update(chat_backups).where(chat_backups.c.id == backup.id).values(name=chat_backups.c.name)
    if idle_since is not None:
        locked = locked.where(chat_backups.c.state == "uploading", chat_backups.c.updated_at < idle_since)
    with database.write() as connection:
        # A concurrent insert of a part waits for this row, and then finds no upload.
        if not connection.execute(locked).rowcount:
            return []
        uuids = list(connection.execute(parts).scalars())
        connection.execute(delete(chat_backups).where(chat_backups.c.id == backup.id))
    return uuids


def files_of(database: Database, backup: ChatBackup) -> list[ChatBackupFile]:
    """Return the files of a backup, in upload order."""
    query = select(*FILE_COLUMNS).where(chat_backup_files.c.backup_id == backup.id)
    with database.read() as connection:
        return [ChatBackupFile(*row) for row in connection.execute(query.order_by(chat_backup_files.c.position))]


def parts_of(database: Database, backup: ChatBackup) -> dict[int, list[ChatBackupPart]]:
    """Return the parts of all files of a backup by the ids of the files, each in order."""
    query = (
        select(*PART_COLUMNS)
        .join(chat_backup_files, chat_backup_files.c.id == chat_backup_parts.c.file_id)
        .where(chat_backup_files.c.backup_id == backup.id)
        .order_by(chat_backup_parts.c.file_id, chat_backup_parts.c.start)
    )
    parts_by_file: dict[int, list[ChatBackupPart]] = {}
    with database.read() as connection:
        for row in connection.execute(query):
            part = ChatBackupPart(*row)
            parts_by_file.setdefault(part.file_id, []).append(part)
    return parts_by_file


def existing_parts(database: Database, uuids: Iterable[str]) -> set[str]:
    """Return which of these uuids are those of parts."""
    statement = select(chat_backup_parts.c.uuid).where(chat_backup_parts.c.uuid.in_(list(uuids)))
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


def shares_of(database: Database, backup: ChatBackup) -> list[Account]:
    """Return the users that a backup is shared with, by name."""
    query = (
        select(*ACCOUNT)
        .join(chat_backup_shares, chat_backup_shares.c.user_id == users.c.id)
        .where(chat_backup_shares.c.backup_id == backup.id)
        .order_by(users.c.folded_name)
    )
    with database.read() as connection:
        return [account_from(tuple(row)) for row in connection.execute(query)]


def is_shared_with(database: Database, backup: ChatBackup, user_id: int) -> bool:
    """Return whether a backup is shared with a user."""
    shares = chat_backup_shares.c
    query = select(shares.user_id).where(shares.backup_id == backup.id, shares.user_id == user_id)
    with database.read() as connection:
        return connection.execute(query).first() is not None


def add_share(database: Database, backup: ChatBackup, user: Account, *, most: int) -> None:
    """Share a backup with a user; idempotent. Raises `TooManyAtOnce` beyond `most` users."""
    row = {"backup_id": backup.id, "user_id": user.id, "created_at": int(time.time())}
    shares = chat_backup_shares.c
    others = select(func.count()).where(shares.user_id != user.id)
    try:
        with database.write() as connection:
            connection.execute(
                update(chat_backups).where(chat_backups.c.id == backup.id).values(name=chat_backups.c.name)
            )
            if connection.execute(others.where(shares.backup_id == backup.id)).scalar_one() >= most:
                raise TooManyAtOnce(f"a backup can be shared with at most {most} users")
            connection.execute(upsert(database, chat_backup_shares).on_conflict_do_nothing(), row)
    except IntegrityError as error:
        raise GoneMeanwhile("the backup or the user was deleted in the meantime") from error


def remove_share(database: Database, backup: ChatBackup, user_id: int) -> None:
    """Stop sharing a backup with a user; does nothing if it is not shared."""
    shares = chat_backup_shares.c
    with database.write() as connection:
        connection.execute(
            delete(chat_backup_shares).where(shares.backup_id == backup.id, shares.user_id == user_id)
        )
