"""Resumable uploads of chat backups: started with the names and sizes of all files, then sent in chunks.

A chunk is stored as an object before its row is added, and the row is added only at the current end of the file
(the `Upload-Offset` of resumable uploads). An interrupted chunk is sent again, so that none is lost or stored
twice. No state of an upload is local to the machine that received it.
"""

import hashlib
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    HostingError,
    InvalidValue,
    NoSuchChatBackup,
    StorageError,
    UploadIncomplete,
    UploadOffsetConflict,
    UploadOverrun,
)
from holdfast.hosting.services import chat_backups
from holdfast.hosting.services.chat_backups import object_key
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.storage.object_store import CHATS, StoredFile
from holdfast.hosting.storage.unused_objects import delete_unused, list_by_uuid
from holdfast.hosting.store import chat_backups as backups_store
from holdfast.hosting.store import chat_uploads as store
from holdfast.hosting.store.chat_backups import ChatBackup, ChatBackupFile
from holdfast.hosting.store.chat_uploads import NewUpload, NewUploadFile

__all__ = [
    "CHUNK_BYTES",
    "GRACE",
    "MOST_FILES",
    "ChosenFile",
    "ChosenFiles",
    "add_chunk",
    "add_file",
    "begin",
    "check_path",
    "collect_garbage",
    "complete",
    "expire",
    "find",
    "list_files",
    "require_complete",
    "stored",
]

# Maximum chunk size, and the minimum except for a file's last chunk: each chunk is an object and a row.
CHUNK_BYTES: Final = 8 * 2**20
LEAST_BYTES: Final = 2**20
MOST_FILES: Final = 20_000
MOST_BACKUPS: Final = 500
LONGEST_PATH: Final = 1000
DEEPEST_PATH: Final = 20
LARGEST_FILE: Final = 2**50
# An upload without a new chunk expires after this time; the grace period of objects without a row.
IDLE_SECONDS: Final = 7 * 86_400
GRACE: Final = 86_400
log = structlog.get_logger(__name__)


class ChosenFile(msgspec.Struct, frozen=True):
    """A file to upload: its path relative to the chosen folder, its size, and its modification time."""

    path: str
    size: int
    modified: int = 0


class ChosenFiles(msgspec.Struct, frozen=True):
    """The files to upload as one backup."""

    name: str
    files: Sequence[ChosenFile]
    is_folder: bool = False


def begin(app: App, actor: Actor, chosen: ChosenFiles, *, resume: bool = True) -> ChatBackup:
    """Begin an upload; with `resume`, an interrupted upload of the same files is continued.

    Raises `ChatStorageFull` if the files exceed the user's storage quota.
    """
    user = access.require_session(actor)
    name = chat_backups.check_name(chosen.name)
    check_files(chosen)
    number = str(uuid.uuid4())
    new = NewUpload(
        uuid=number,
        name=name,
        is_folder=chosen.is_folder,
        fingerprint=fingerprint(chosen) if resume else number,
        files=[NewUploadFile(file.path, file.size) for file in chosen.files],
    )
    limit = app.settings.chat_storage_mb * 2**20
    return store.add_upload(app.database, user, new, most_bytes=limit, most_backups=MOST_BACKUPS)


def check_files(chosen: ChosenFiles) -> None:
    """Raise an error for paths that a local folder cannot have, for an empty list, and for too many files."""
    files = chosen.files
    check_length(files, "Files", MOST_FILES)
    if not files or (len(files) > 1 and not chosen.is_folder):
        raise InvalidValue("Files", "choose one file or a folder")
    if not any(file.size for file in files):
        raise InvalidValue("Files", "there is nothing in what you chose")
    folders: set[str] = set()
    paths: set[str] = set()
    for file in files:
        parts = check_path(file.path, is_folder=chosen.is_folder)
        if not 0 <= file.size <= LARGEST_FILE or file.path in paths:
            raise InvalidValue("Files", "a size is invalid, or a path is there twice")
        paths.add(file.path)
        folders.update("/".join(parts[:count]) for count in range(1, len(parts)))
    if paths & folders:
        raise InvalidValue("Files", "a file has the name of a folder")


def check_path(path: str, *, is_folder: bool) -> list[str]:
    """Return the parts of a relative path; raise an error for a path that leaves its folder."""
    parts = path.split("/")
    if len(path) > LONGEST_PATH or len(parts) > (DEEPEST_PATH if is_folder else 1):
        raise InvalidValue("Files", "a path is too long")
    for part in parts:
        # File systems limit a name to 255 bytes.
        if (
            part in {"", ".", ".."}
            or not part.isprintable()
            or "\\" in part
            or len(part.encode("utf-8", "replace")) > 255
        ):
            raise InvalidValue("Files", "a path is invalid")
    return parts


def fingerprint(chosen: ChosenFiles) -> str:
    """Return a hash of the files' names, sizes and times, which identifies an upload to resume."""
    described = msgspec.json.encode((chosen.name, chosen.is_folder, list(chosen.files)))
    return hashlib.sha256(described).hexdigest()


def find(app: App, actor: Actor, number: str) -> ChatBackup:
    """Return an upload in progress that the actor owns; for others raise an error as if it were missing."""
    upload = chat_backups.find_own(app, actor, number)
    if upload.state != "uploading":
        raise NoSuchChatBackup
    return upload


def list_files(app: App, actor: Actor, number: str) -> list[ChatBackupFile]:
    """List the files of an upload of the actor, each with the number of bytes received."""
    return backups_store.files_of(app.database, find(app, actor, number))


def add_chunk(app: App, actor: Actor, number: str, position: int, *, offset: int, path: Path) -> int:
    """Append the chunk at `path` to a file of an upload; return the number of bytes received.

    Raises `UploadOffsetConflict` unless the file ends at `offset`, and `UploadOverrun` beyond its size.
    """
    upload = find(app, actor, number)
    file = store.find_file(app.database, upload, position)
    size = path.stat().st_size
    if offset != file.received:
        raise UploadOffsetConflict(file.received)
    if offset + size > file.size:
        raise UploadOverrun(file.size)
    if size < LEAST_BYTES and offset + size < file.size:
        raise InvalidValue("Chunk", f"has at least {LEAST_BYTES} bytes, unless it is the last one")
    return add_part(app, upload, file, offset, path) if size else file.received


def add_file(app: App, actor: Actor, number: str, path: Path) -> None:
    """Add the file of a single-file upload in one request."""
    upload = find(app, actor, number)
    file = store.find_file(app.database, upload, 0)
    if path.stat().st_size != file.size:
        raise UploadOverrun(file.size)
    add_part(app, upload, file, 0, path)


def add_part(app: App, upload: ChatBackup, file: ChatBackupFile, offset: int, path: Path) -> int:
    """Store bytes as an object, then add their row; return the number of bytes received for the file."""
    part = str(uuid.uuid4())
    app.store.put_file(object_key(part), path)
    try:
        return store.add_part(app.database, upload, file, start=offset, size=path.stat().st_size, uuid=part)
    except HostingError:
        chat_backups.delete_parts(app, [part])
        raise


def require_complete(app: App, actor: Actor, number: str) -> None:
    """Raise `UploadIncomplete` unless all bytes of an upload were received."""
    if any(file.received < file.size for file in list_files(app, actor, number)):
        raise UploadIncomplete


def complete(app: App, actor: Actor, number: str, *, kind: str) -> ChatBackup:
    """Complete an upload that was fully received; `kind` is the kind of backup."""
    return store.complete_upload(app.database, find(app, actor, number), kind=kind)


def stored(app: App) -> Iterator[tuple[str, StoredFile]]:
    """List the parts in the object store with their uuids."""
    return list_by_uuid(app.store, CHATS, object_key)


def expire(app: App, *, now: float | None = None) -> None:
    """Delete uploads that received no chunk for a week, with their bytes."""
    before = int((time.time() if now is None else now) - IDLE_SECONDS)
    for upload in store.expired_uploads(app.database, before=before):
        # While others were deleted, this one may have been continued, or even completed.
        parts = backups_store.delete_backup(app.database, upload, idle_since=before)
        chat_backups.delete_parts(app, parts)


def collect_garbage(app: App, *, now: float) -> int:
    """Delete objects that no backup has had for a day, and return how many; deletes none during a backup."""
    try:
        return delete_unused(
            app.database, app.store, CHATS, object_key, backups_store.existing_parts, before=now - GRACE
        )
    except StorageError as error:
        log.warning("garbage collection of chat backups failed", error=str(error))
        return 0
