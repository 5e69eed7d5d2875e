"""Uploads of chat backups: begun with the names and sizes of all files, sent in chunks, completed or expired.

A chunk is stored as an object before its row is added, and the row is added only where the file ends (the
`Upload-Offset` of resumable uploads), so that a chunk that was interrupted is sent again and none is lost or there
twice. Nothing of an upload is on the machine that received it.
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

# The largest chunk, and the smallest but for the last of a file: each is an object and a row.
CHUNK_BYTES: Final = 8 * 2**20
LEAST_BYTES: Final = 2**20
MOST_FILES: Final = 20_000
MOST_BACKUPS: Final = 500
LONGEST_PATH: Final = 1000
DEEPEST_PATH: Final = 20
LARGEST_FILE: Final = 2**50
# How long an upload waits for its next chunk; how long bytes without a row may belong to a chunk on its way.
IDLE_SECONDS: Final = 7 * 86_400
GRACE: Final = 86_400
log = structlog.get_logger(__name__)


class ChosenFile(msgspec.Struct, frozen=True):
    """A file that a user chose: its path in the folder that was chosen, its size, and when it was changed."""

    path: str
    size: int
    modified: int = 0


class ChosenFiles(msgspec.Struct, frozen=True):
    """The files that a user chose to upload as one backup."""

    name: str
    files: Sequence[ChosenFile]
    is_folder: bool = False


def begin(app: App, actor: Actor, chosen: ChosenFiles, *, resume: bool = True) -> ChatBackup:
    """Begin an upload; with `resume`, the same files go on where an upload of them was interrupted.

    Raises `ChatStorageFull` if they do not fit into what the user may have.
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
    """Raise an error for files that no folder of this machine can have, for none, and for too many."""
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
    """Return the parts of a relative path; raise an error for one that leads elsewhere."""
    parts = path.split("/")
    if len(path) > LONGEST_PATH or len(parts) > (DEEPEST_PATH if is_folder else 1):
        raise InvalidValue("Files", "a path is too long")
    for part in parts:
        # A file system takes at most 255 bytes.
        if (
            part in {"", ".", ".."}
            or not part.isprintable()
            or "\\" in part
            or len(part.encode("utf-8", "replace")) > 255
        ):
            raise InvalidValue("Files", "a path is invalid")
    return parts


def fingerprint(chosen: ChosenFiles) -> str:
    """Return the hash of the names, sizes and times of files, by which an upload is found again."""
    described = msgspec.json.encode((chosen.name, chosen.is_folder, list(chosen.files)))
    return hashlib.sha256(described).hexdigest()


def find(app: App, actor: Actor, number: str) -> ChatBackup:
    """Return an upload of the actor that is in progress; for others there is none."""
    upload = chat_backups.find_own(app, actor, number)
    if upload.state != "uploading":
        raise NoSuchChatBackup
    return upload


def list_files(app: App, actor: Actor, number: str) -> list[ChatBackupFile]:
    """List the files of an upload of the actor, and how much of each has arrived."""
    return backups_store.files_of(app.database, find(app, actor, number))


def add_chunk(app: App, actor: Actor, number: str, position: int, *, offset: int, path: Path) -> int:
    """Add a chunk, which is in a file, to the end of a file of an upload; return how many bytes that has then.

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
    """Add the only file of an upload at once."""
    upload = find(app, actor, number)
    file = store.find_file(app.database, upload, 0)
    if path.stat().st_size != file.size:
        raise UploadOverrun(file.size)
    add_part(app, upload, file, 0, path)


def add_part(app: App, upload: ChatBackup, file: ChatBackupFile, offset: int, path: Path) -> int:
    """Store bytes as an object and then add their row; return how many bytes the file has then."""
    part = str(uuid.uuid4())
    app.store.put_file(object_key(part), path)
    try:
        return store.add_part(app.database, upload, file, start=offset, size=path.stat().st_size, uuid=part)
    except HostingError:
        chat_backups.delete_parts(app, [part])
        raise


def require_complete(app: App, actor: Actor, number: str) -> None:
    """Raise `UploadIncomplete` unless all bytes of an upload have arrived."""
    if any(file.received < file.size for file in list_files(app, actor, number)):
        raise UploadIncomplete


def complete(app: App, actor: Actor, number: str, *, kind: str) -> ChatBackup:
    """End an upload whose bytes have all arrived; `kind` is what they are."""
    return store.complete_upload(app.database, find(app, actor, number), kind=kind)


def stored(app: App) -> Iterator[tuple[str, StoredFile]]:
    """List the parts in the object store with their uuids."""
    return list_by_uuid(app.store, CHATS, object_key)


def expire(app: App, *, now: float | None = None) -> int:
    """Delete uploads that got no chunk for a week, with their bytes; return their number."""
    before = int((time.time() if now is None else now) - IDLE_SECONDS)
    old = store.expired_uploads(app.database, before=before)
    for upload in old:
        chat_backups.delete_parts(app, backups_store.delete_backup(app.database, upload))
    return len(old)


def collect_garbage(app: App, *, now: float) -> int:
    """Delete the bytes of parts that no backup has, after a day, and return their number; none during a backup."""
    try:
        return delete_unused(
            app.database, app.store, CHATS, object_key, backups_store.existing_parts, before=now - GRACE
        )
    except StorageError as error:
        log.warning("garbage collection of chat backups failed", error=str(error))
        return 0
