"""Serves the attachments of a phone folder: files stay encrypted on disk and are decrypted while sent."""

import io
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from holdfast.backup.container.attachments import (
    AttachmentKey,
    authenticate_attachment,
    content_path,
)
from holdfast.backup.container.folder import find_snapshots
from holdfast.backup.container.media import FolderMedia
from holdfast.backup.container.sealed import Span, VerifiedSpan
from holdfast.backup.errors import AttachmentDamaged, AttachmentError, BackupError

__all__ = ["EncryptedFiles", "EncryptedMedia", "media_of"]

MOST_KNOWN: Final = 10_000

FileState = tuple[int, int, int, int]


class EncryptedFiles(Protocol):
    """Where the encrypted attachment files are."""

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""

    def open_encrypted(self, media_name: str) -> BinaryIO:
        """Open the file of that name; AttachmentError if it is missing."""


class FolderFiles:
    """The attachment files of a folder on this machine."""

    def __init__(self, folder: FolderMedia) -> None:
        self._folder = folder
        self.open_encrypted = folder.open_encrypted

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        try:
            return content_path(self._folder.store, media_name).is_file()
        except (AttachmentError, OSError):
            return False


class EncryptedMedia:
    """The content store of a phone folder.

    The MAC of the whole file is checked before the first byte is decrypted. The result is cached until the file
    changes, so that a video player's range requests do not each wait for it. `files` are the encrypted files.
    """

    def __init__(self, files: EncryptedFiles) -> None:
        self.files = files
        self._lock = threading.Lock()
        self._authenticated: OrderedDict[str, FileState] = OrderedDict()

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        return self.files.has(media_name)

    def authenticate(self, attachment: AttachmentKey) -> None:
        """Check the MAC of a file, unless it was checked before; AttachmentError if it is missing or damaged."""
        with self.files.open_encrypted(attachment.name) as source:
            self._authenticate(source, attachment)

    def _authenticate(self, source: BinaryIO, attachment: AttachmentKey) -> None:
        state = state_of(source)
        with self._lock:
            if self._authenticated.get(attachment.name) == state:
                self._authenticated.move_to_end(attachment.name)
                return
        authenticate_attachment(source, attachment)
        with self._lock:
            self._authenticated[attachment.name] = state
            while len(self._authenticated) > MOST_KNOWN:
                self._authenticated.popitem(last=False)

    def read(self, attachment: AttachmentKey, start: int, stop: int) -> Iterator[bytes]:
        """Yield a range of the decrypted content of a file."""
        with self.files.open_encrypted(attachment.name) as source:
            self._authenticate(source, attachment)
            span = Span(0, source.seek(0, os.SEEK_END))
            if attachment.size > span.ciphertext_size:
                raise AttachmentDamaged(f"attachment {attachment.name} is cut short")
            yield from VerifiedSpan(source, span, attachment.local_key.cipher_keys(), b"").part(start, stop)


def state_of(source: BinaryIO) -> FileState:
    """Return the device, inode, size and modification time of a file, which identify its state."""
    try:
        status = os.fstat(source.fileno())
    except io.UnsupportedOperation:
        # Objects of the object store are immutable.
        return 0, 0, 0, 0
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def media_of(path: Path | None) -> EncryptedMedia | None:
    """Return the attachments of a phone folder; None if the backup is not one."""
    try:
        snapshots = find_snapshots(path) if path is not None and path.is_dir() else []
    except (BackupError, OSError):
        return None
    return EncryptedMedia(FolderFiles(FolderMedia(snapshots[0].store, snapshots[0].root))) if snapshots else None
