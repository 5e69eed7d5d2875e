"""Uploaded chat backups as sources of conversations: their kinds, and their files in the object store."""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.container.folder import MAIN, MANIFEST, METADATA, STORE
from holdfast.backup.container.takeout import LINES
from holdfast.backup.errors import AttachmentMissing, BackupError
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services import chat_backups
from holdfast.hosting.services.chat_backups import ChatBackupContent
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.web.chats.cache_entries import ConversationSource, UploadOrigin
from holdfast.web.chats.encrypted_media import EncryptedMedia
from holdfast.web.chats.file_kinds import LOOK, FileKind, kind_of_file, kind_of_path
from holdfast.web.chats.locks import open_private
from holdfast.web.chats.zipped_folder import ZIP_MAGIC, zipped_files

__all__ = ["check_kind", "make_source"]

# The file names that identify the kind of a folder.
TELLING: Final = frozenset({MAIN, METADATA, MANIFEST, LINES})
SNAPSHOT: Final = "signal-backup"
# The encrypted attachments of a phone's folder, in its content store.
ATTACHMENT: Final = re.compile(rf"(?:.*/)?{STORE}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})")


def check_kind(app: App, actor: Actor, backup: ChatBackup) -> FileKind:
    """Return the kind of an upload; raise `ApiError` unless it is a chat backup that can be shown."""
    content = chat_backups.content_of(app, actor, backup)
    kind = kind_of_folder(app, content.files) if backup.is_folder else kind_of_upload(app, content)
    if kind is FileKind.ARCHIVE:
        raise ApiError(
            422,
            "this is an archive, which is not opened here, for security; upload the backup that it was made of, "
            "or run `holdfast archive serve` on your own machine",
        )
    if kind is None:
        where = "there is no chat backup in this folder" if backup.is_folder else "this is not a chat backup"
        raise ApiError(422, f"{where}; choose a backup file, or the folder that the phone wrote")
    return kind


def kind_of_upload(app: App, content: ChatBackupContent) -> FileKind | None:
    """Return the kind of a single file by its first bytes, and of a ZIP archive by its entries."""
    (file,) = content.files.values()
    with content.open(file) as source:
        kind = kind_of_file(source.read(LOOK), file.size)
        if kind is FileKind.PLAIN and is_zip(source):
            try:
                is_folder = kind_of_folder(app, zipped_files(source)) is FileKind.SEALED
            except BackupError as error:
                raise ApiError(422, f"{error}") from error
            return FileKind.SEALED if is_folder else kind
        return kind


def is_zip(source: BinaryIO) -> bool:
    """Return whether a file starts with the magic number of ZIP archives."""
    source.seek(0)
    return source.read(len(ZIP_MAGIC)) == ZIP_MAGIC


def kind_of_folder(app: App, paths: Iterable[str]) -> FileKind | None:
    """Return the kind of a folder by its file names, which are created as empty files in a temporary folder."""
    with app.folders.incoming() as folder:
        for path in paths:
            target = folder / inner_path(path)
            if ATTACHMENT.fullmatch(path):
                target.parent.parent.mkdir(parents=True, exist_ok=True)
            elif target.name in TELLING:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
        return kind_of_path(folder)


def inner_path(path: str) -> str:
    """Return the path of a file inside the chosen folder, whose name is kept only if it is a single snapshot."""
    chosen, _, inner = path.partition("/")
    return path if chosen.startswith(SNAPSHOT) or not inner else inner


def files_of(content: ChatBackupContent, backup: ChatBackup) -> Mapping[str, Callable[[], BinaryIO]] | None:
    """Return a function that opens each file of an uploaded folder or ZIP archive; None for a single file."""
    if backup.is_folder:
        return {path: partial(content.open, file) for path, file in content.files.items()}
    if backup.kind != FileKind.SEALED.value:
        return None
    (file,) = content.files.values()
    source = content.open(file)
    return zipped_files(source) if is_zip(source) else None


def make_source(app: App, actor: Actor, backup: ChatBackup) -> ConversationSource:
    """Return an uploaded backup as the source of a conversation."""
    kind = FileKind(backup.kind)
    return ConversationSource(
        f"upload {backup.uuid}",
        backup.name,
        kind,
        write=partial(write_backup, app, actor, backup),
        origin=UploadOrigin(backup.id, backup.owner_id),
        media=partial(stored_media, app, actor, backup) if kind is FileKind.SEALED else None,
    )


def write_backup(app: App, actor: Actor, backup: ChatBackup, target: Path) -> None:
    """Write a backup to a local file or folder for the import.

    The encrypted attachments of a folder stay in the object store and are read from there when they are shown.
    """
    content = chat_backups.content_of(app, actor, backup)
    files = files_of(content, backup)
    if files is None:
        (file,) = content.files.values()
        open_private(target).close()
        content.copy(file, target)
        return
    target.mkdir(mode=0o700)
    for path, open_file in files.items():
        place = target / inner_path(path)
        if backup.kind == FileKind.SEALED.value and ATTACHMENT.fullmatch(path):
            place.parent.parent.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            with open_file() as source, place.open("wb") as out:
                shutil.copyfileobj(source, out)


class StoredAttachments:
    """The encrypted attachments of an uploaded folder, in the object store."""

    def __init__(self, files: Mapping[str, Callable[[], BinaryIO]]) -> None:
        self._files = {
            match[2]: open_file for path, open_file in files.items() if (match := ATTACHMENT.fullmatch(path))
        }

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        return media_name in self._files

    def open_encrypted(self, media_name: str) -> BinaryIO:
        """Open the encrypted file of that name."""
        open_file = self._files.get(media_name)
        if open_file is None:
            raise AttachmentMissing(f"attachment {media_name} is not in the content store")
        return open_file()


def stored_media(app: App, actor: Actor, backup: ChatBackup) -> EncryptedMedia | None:
    """Return the attachments of an uploaded folder; None for a single file."""
    files = files_of(chat_backups.content_of(app, actor, backup), backup)
    return None if files is None else EncryptedMedia(StoredAttachments(files))
