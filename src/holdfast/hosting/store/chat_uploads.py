"""Chat backup uploads in progress: the files, and the parts received so far."""

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import (
    ChatStorageFull,
    GoneMeanwhile,
    NoSuchChatBackup,
    TooManyAtOnce,
    UploadIncomplete,
    UploadOffsetConflict,
)
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.chat_backups import COLUMNS, FILE_COLUMNS, ChatBackup, ChatBackupFile, used_by
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import chat_backup_files, chat_backup_parts, chat_backups, users

__all__ = [
    "NewUpload",
    "NewUploadFile",
    "add_part",
    "add_upload",
    "complete_upload",
    "expired_uploads",
    "find_file",
]

BATCH: Final = 1000


class NewUploadFile(msgspec.Struct, frozen=True):
    """A file to upload: its path in the uploaded folder, and its size."""

    path: str
    size: int


class NewUpload(msgspec.Struct, frozen=True):
    """An upload to begin."""

    uuid: str
    name: str
    is_folder: bool
    fingerprint: str
    files: Sequence[NewUploadFile]

    @property
    def size(self) -> int:
        """The total size of all files."""
        return sum(file.size for file in self.files)


def add_upload(
    database: Database, owner: Account, new: NewUpload, *, most_bytes: int, most_backups: int
) -> ChatBackup:
    """Begin an upload, or return the one with the same fingerprint that was interrupted.

    Raises `ChatStorageFull` if the owner would have more than `most_bytes`, `TooManyAtOnce` beyond `most_backups`.
    """
    now = int(time.time())
    row = {
        "uuid": new.uuid,
        "owner_id": owner.id,
        "name": new.name,
        "state": "uploading",
        "is_folder": new.is_folder,
        "size": new.size,
        "fingerprint": new.fingerprint,
        "created_at": now,
        "updated_at": now,
    }
    query = select(*COLUMNS).where(
        chat_backups.c.owner_id == owner.id,
        chat_backups.c.state == "uploading",
        chat_backups.c.fingerprint == new.fingerprint,
    )
    with database.write() as connection:
        # Locks the owner's row against a concurrent upload, which would not be counted otherwise.
        locked = update(users).where(users.c.id == owner.id).values(name=users.c.name)
        if not connection.execute(locked).rowcount:
            raise GoneMeanwhile("the user was deleted in the meantime")
        existing = connection.execute(query.order_by(chat_backups.c.id).limit(1)).one_or_none()
        if existing is not None:
            return ChatBackup(*existing)
        count, used = used_by(connection, owner)
        if used + new.size > most_bytes:
            raise ChatStorageFull(most_bytes, used)
        if count >= most_backups:
            raise TooManyAtOnce(f"a user can have at most {most_backups} backups")
        added = ChatBackup(*connection.execute(insert(chat_backups).returning(*COLUMNS), row).one())
        rows = [
            {"backup_id": added.id, "position": position, "path": file.path, "size": file.size}
            for position, file in enumerate(new.files)
        ]
        for start in range(0, len(rows), BATCH):
            connection.execute(insert(chat_backup_files), rows[start : start + BATCH])
    return added


def find_file(database: Database, upload: ChatBackup, position: int) -> ChatBackupFile:
    """Return a file of an upload by its position."""
    files = chat_backup_files.c
    query = select(*FILE_COLUMNS).where(files.backup_id == upload.id, files.position == position)
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise NoSuchChatBackup
    return ChatBackupFile(*row)


def add_part(
    database: Database, upload: ChatBackup, file: ChatBackupFile, *, start: int, size: int, uuid: str
) -> int:
    """Append a part to a file by compare-and-set, and return the new size of the file in bytes.

    Raises `UploadOffsetConflict` if the file does not end at `start` any more.
    """
    files = chat_backup_files.c
    moved = (
        update(chat_backup_files)
        .where(files.id == file.id, files.received == start)
        .values(received=start + size)
        .returning(files.received)
    )
    statement = (
        update(chat_backups)
        .where(chat_backups.c.id == upload.id, chat_backups.c.state == "uploading")
        .values(updated_at=int(time.time()))
    )
    try:
        with database.write() as connection:
            if not connection.execute(statement).rowcount:
                raise NoSuchChatBackup
            received = connection.execute(moved).scalar_one_or_none()
            if received is None:
                current = connection.execute(select(files.received).where(files.id == file.id)).scalar_one()
                raise UploadOffsetConflict(current)
            row = {"file_id": file.id, "start": start, "size": size, "uuid": uuid}
            connection.execute(insert(chat_backup_parts), row)
            return int(received)
    except IntegrityError as error:
        raise NoSuchChatBackup from error


def complete_upload(database: Database, upload: ChatBackup, *, kind: str) -> ChatBackup:
    """Complete an upload whose bytes have all arrived; raise `UploadIncomplete` otherwise."""
    files = chat_backup_files.c
    missing = select(files.id).where(files.backup_id == upload.id, files.received < files.size).limit(1)
    statement = (
        update(chat_backups)
        .where(chat_backups.c.id == upload.id, chat_backups.c.state == "uploading")
        .values(state="complete", kind=kind, updated_at=int(time.time()))
        .returning(*COLUMNS)
    )
    with database.write() as connection:
        row = connection.execute(statement).one_or_none()
        if row is None:
            raise NoSuchChatBackup
        if connection.execute(missing).first() is not None:
            raise UploadIncomplete
    return ChatBackup(*row)


def expired_uploads(database: Database, *, before: int) -> list[ChatBackup]:
    """Return uploads in progress to which nothing was added since a time, limited to one batch."""
    old = select(*COLUMNS).where(chat_backups.c.state == "uploading", chat_backups.c.updated_at < before)
    with database.read() as connection:
        return [ChatBackup(*row) for row in connection.execute(old.order_by(chat_backups.c.id).limit(BATCH))]
