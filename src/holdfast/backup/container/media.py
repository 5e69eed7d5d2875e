"""Where the attachments of a backup lie, and how one is opened from there."""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import BinaryIO, Protocol

from holdfast.backup.container.attachments import AttachmentKey, content_path, decrypt_attachment, file_size
from holdfast.backup.container.chunks import CHUNK, as_file
from holdfast.backup.container.inside import open_inside
from holdfast.backup.container.takeout import PlaintextExport
from holdfast.backup.errors import (
    AttachmentDamaged,
    AttachmentError,
    AttachmentMismatch,
    AttachmentMissing,
    AttachmentTooShort,
    AttachmentTruncated,
    BackupError,
    UnreadableBackup,
)
from holdfast.redacted_repr import redacted

__all__ = ["AttachmentStore", "ExportMedia", "FolderMedia"]


class AttachmentStore(Protocol):
    """A place that holds attachments."""

    def open(self, attachment: AttachmentKey) -> AbstractContextManager[BinaryIO]:
        """Open one as the file it once was; its hash is compared before its last bytes are given out."""

    def check(self, attachment: AttachmentKey) -> None:
        """Raise when an attachment is missing or its file is too short to be whole; nothing is decrypted."""

    def has_files(self) -> bool:
        """Return whether the place is meant to hold attachments."""


@redacted
@dataclass(frozen=True, slots=True)
class FolderMedia:
    """The content store of a local folder: encrypted files, shared by all snapshots."""

    store: Path
    root: Path

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Decrypt one attachment while it is read."""
        with self.open_encrypted(attachment) as source:
            yield decrypt_attachment(source, attachment)

    def check(self, attachment: AttachmentKey) -> None:
        """Compare the file's length with what it must be at least."""
        with self.open_encrypted(attachment) as source:
            length = source.seek(0, 2)
        if length < min(file_size(attachment.size), attachment.size + 48):
            raise AttachmentTruncated(
                f"attachment {attachment.name} is cut short: its file has only {length} bytes"
            )

    def has_files(self) -> bool:
        """Say yes: a phone writes every attachment it has."""
        return True

    def open_encrypted(self, attachment: AttachmentKey) -> BinaryIO:
        """Open the encrypted file of one attachment."""
        try:
            return open_inside(self.root, content_path(self.store, attachment.name))
        except FileNotFoundError:
            raise AttachmentMissing(f"attachment {attachment.name} is not in the content store") from None
        except UnreadableBackup as error:
            raise AttachmentError(str(error)) from None


@redacted
@dataclass(frozen=True, slots=True)
class ExportMedia:
    """The files of a plaintext export."""

    export: PlaintextExport

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Read one attachment, holding it to its size and hash."""
        with self._file(attachment) as source:
            yield as_file(verified(source, attachment))

    def check(self, attachment: AttachmentKey) -> None:
        """Find the file; a ZIP gives no length that could be believed."""
        self._file(attachment).close()

    def has_files(self) -> bool:
        """Return whether the export was made with its attachments."""
        return self.export.has_media()

    def _file(self, attachment: AttachmentKey) -> BinaryIO:
        try:
            return self.export.open_medium(attachment.name)
        except FileNotFoundError:
            raise AttachmentMissing(f"attachment {attachment.name} is not in the export") from None
        except UnreadableBackup as error:
            raise AttachmentError(str(error)) from None


def verified(source: BinaryIO, attachment: AttachmentKey) -> Iterator[bytes]:
    """Yield what is read, the last chunk only once size and hash of the whole were found right."""
    digest = hashlib.sha256()
    size = 0
    last = b""
    try:
        while chunk := source.read(CHUNK):
            if last:
                yield last
            digest.update(chunk)
            size += len(chunk)
            last = chunk
    except BackupError as error:
        raise AttachmentDamaged(f"attachment {attachment.name} cannot be read: {error}") from None
    if size < attachment.size:
        raise AttachmentTooShort(
            f"attachment {attachment.name} holds {size} bytes, fewer than the {attachment.size} the backup gives"
        )
    if not compare_digest(digest.digest(), attachment.plaintext_hash):
        raise AttachmentMismatch(f"attachment {attachment.name} is not the content the backup means")
    if last:
        yield last
