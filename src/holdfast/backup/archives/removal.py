"""Removes an import, a chat or a person from an archive permanently.

All changes are made in one transaction with `secure_delete`, so that freed pages are overwritten; blocks of
records and the full-text index are rewritten, as single entries cannot be erased from them. Attachment files are
deleted after the commit, and the file is vacuumed last. An interruption leaves the archive either unchanged or
without the removed content.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from holdfast.backup.archives.import_removal import remove_import
from holdfast.backup.archives.imports import transaction
from holdfast.backup.archives.media_files import MediaFolder
from holdfast.backup.archives.media_store import delete_removed_files, mark_removed
from holdfast.backup.archives.message_index import index_all
from holdfast.backup.archives.person_removal import delete_chat, delete_recipient, remove_person
from holdfast.backup.archives.records import LENGTH, RecordReader, rewrite_records
from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.errors import ArchiveError, NotInArchive
from holdfast.backup.media import FILE_POINTERS, pointers_of
from holdfast.backup.public import public
from holdfast.backup.schema import backup_pb2
from holdfast.backup.wire.collect import Selection, collect_block
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["RemovalResult", "remove"]

POINTERS: Final = Selection(FILE_POINTERS)
# The protobuf tags of records in a frame.
RECIPIENT, CHAT, CHAT_ITEM = (encode_varint(number << 3 | 2) for number in (2, 3, 4))
COUNT_QUERIES: Final = {
    "imports": "SELECT count(*) FROM snapshot",
    "chats": "SELECT count(*) FROM chat",
    "people": "SELECT count(*) FROM recipient WHERE kind = 'contact'",
    "messages": "SELECT count(*) FROM message",
    "attachments": "SELECT count(*) FROM attachment",
}


@public
@redacted
@dataclass(frozen=True, slots=True)
class RemovalResult:
    """Counts of what was removed, or would be; `edited` messages stay without the contributions of the person.

    `files` counts the unreferenced attachment files, `bytes` their size.
    """

    imports: int
    chats: int
    people: int
    messages: int
    attachments: int
    edited: int
    files: int
    bytes: int


class DryRun(Exception):
    """Raised to roll back a removal after it was counted."""


def remove(
    connection: sqlite3.Connection,
    media: MediaFolder,
    *,
    snapshot: int | None = None,
    chat: int | None = None,
    person: int | None = None,
    dry_run: bool = False,
) -> RemovalResult:
    """Remove one import, chat or person through a writable connection, and its files from `media`."""
    if sum(target is not None for target in (snapshot, chat, person)) != 1:
        raise ValueError("give one of snapshot, chat and person")
    removal: RemovalResult | None = None
    with secure_delete(connection), suppress(DryRun):
        with transaction(connection):
            before = counts(connection)
            edited = 0
            if snapshot is not None:
                remove_import(connection, snapshot)
            elif chat is not None:
                remove_chat(connection, chat)
            elif person is not None:
                edited = remove_person(connection, person)
            rewrite_records(connection, {})
            index_all(connection)
            files, size = mark_removed(connection, used_media(connection))
            after = counts(connection)
            removed = {name: before[name] - after[name] for name in COUNT_QUERIES}
            removal = RemovalResult(**removed, edited=edited, files=files, bytes=size)
            if dry_run:
                raise DryRun
        delete_removed_files(connection, media)
        vacuum(connection)
    assert removal is not None  # noqa: S101  # set unless an error was raised
    return removal


@contextmanager
def secure_delete(connection: sqlite3.Connection) -> Iterator[None]:
    """Turn on SQLite's `secure_delete`, which overwrites deleted content with zeros."""
    (previous,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = ON").fetchone()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA secure_delete = {int(previous)}").fetchone()


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Count the rows of an archive."""
    return {name: connection.execute(query).fetchone()[0] for name, query in COUNT_QUERIES.items()}


def vacuum(connection: sqlite3.Connection) -> None:
    """Return free pages to the file system; skipped if the archive is busy, as they are overwritten already."""
    # VACUUM attaches its temporary database.
    before = connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_LOCKED}:
            raise ArchiveError(f"the archive cannot be written: {error}") from error
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, before)


def remove_chat(connection: sqlite3.Connection, chat: int) -> None:
    """Remove a chat with its messages, and the group if it is one; a person stays."""
    row = connection.execute(
        "SELECT r.kind FROM chat c JOIN recipient r ON r.id = c.id WHERE c.id = ?", (chat,)
    ).fetchone()
    if row is None:
        raise NotInArchive(f"there is no chat {chat}; `holdfast archive chats` lists them")
    delete_chat(connection, chat)
    if row[0] == "group":
        delete_recipient(connection, chat)


def used_media(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all attachments that records refer to, including earlier versions."""
    if connection.execute("SELECT 1 FROM media WHERE path <> '' LIMIT 1").fetchone() is None:
        return set()
    names: set[str] = set()
    reader = RecordReader(connection)
    for (block,) in connection.execute("SELECT id FROM block ORDER BY id").fetchall():
        reader.load(block)
        names |= media_in(frame_record(CHAT_ITEM, raw) for raw in split_records(reader.data))
    for tag, table in ((RECIPIENT, "recipient_version"), (CHAT, "chat_version")):
        rows = connection.execute(f"SELECT record FROM {table}")  # constants
        names |= media_in(frame_record(tag, raw) for (raw,) in rows)
    owners = connection.execute("SELECT account_record FROM snapshot WHERE account_record IS NOT NULL")
    return names | media_in(encode_varint(len(raw)) + raw for (raw,) in owners)


def split_records(data: bytes) -> Iterator[bytes]:
    """Yield the records of a block."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + LENGTH], "little")
        yield data[at + LENGTH : at + LENGTH + size]
        at += LENGTH + size


def frame_record(tag: bytes, raw: bytes) -> bytes:
    """Return a record as a frame with its length prefix."""
    frame = tag + encode_varint(len(raw)) + raw
    return encode_varint(len(frame)) + frame


def media_in(frames: Iterator[bytes]) -> set[str]:
    """Return the names of the attachments that frames refer to."""
    data = b"".join(frames)
    pointers, _frames, fault, _at = collect_block(data, NO_CAP, POINTERS)
    if fault:
        raise ArchiveError("the archive is damaged: a record cannot be read")
    names: set[str] = set()
    for _slot, _depth, start, end in pointers:
        locator = backup_pb2.FilePointer.FromString(data[start:end]).locatorInfo
        for plaintext_hash, key, size in pointers_of(locator.SerializeToString()):
            names.add(AttachmentKey(LocalKey(key), plaintext_hash, size).name)
    return names
