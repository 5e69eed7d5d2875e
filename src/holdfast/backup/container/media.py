"""Stores of attachments: the content store of a local folder, and the files of a plaintext export."""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import BinaryIO, Protocol

from holdfast.backup.container.attachments import AttachmentKey, content_path, decrypt_attachment, file_size
from holdfast.backup.container.chunks import CHUNK, as_file
from holdfast.backup.container.contained_files import open_contained
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
    """A store of attachments."""

    def open(self, attachment: AttachmentKey) -> AbstractContextManager[BinaryIO]:
        """Open an attachment, decrypted; its hash is verified before the last bytes are returned."""

    def check(self, attachment: AttachmentKey) -> None:
        """Raise an error if an attachment is missing or its file is too short; nothing is decrypted."""

    def has_files(self) -> bool:
        """Return whether the store is expected to have attachments."""


@redacted
@dataclass(frozen=True, slots=True)
class FolderMedia:
    """The content store of a local folder: encrypted files, shared by all snapshots."""

    store: Path
    root: Path

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Decrypt one attachment while it is read."""
        with self.open_encrypted(attachment.name) as source:
            yield decrypt_attachment(source, attachment)

    def check(self, attachment: AttachmentKey) -> None:
        """Check that the file exists and has at least the required size."""
        with self.open_encrypted(attachment.name) as source:
            length = source.seek(0, 2)
        if length < min(file_size(attachment.size), attachment.size + 48):
            raise AttachmentTruncated(
                f"attachment {attachment.name} is cut short: its file has only {length} bytes"
            )

    def has_files(self) -> bool:
        """Return True: a phone writes every attachment it has."""
        return True

    def open_encrypted(self, name: str) -> BinaryIO:
        """Open the encrypted file of one attachment, by the name of the file."""
        try:
            return open_contained(self.root, content_path(self.store, name))
        except FileNotFoundError:
            raise AttachmentMissing(f"attachment {name} is not in the content store") from None
        except UnreadableBackup as error:
            raise AttachmentError(str(error)) from None


@redacted
@dataclass(frozen=True, slots=True)
class ExportMedia:
    """The files of a plaintext export."""

    export: PlaintextExport

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Open an attachment; its size and hash are verified while it is read."""
        with self._file(attachment) as source:
            yield as_file(verified(source, attachment))

    def check(self, attachment: AttachmentKey) -> None:
        """Check that the file exists; the sizes in a ZIP archive cannot be trusted."""
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
    """Yield the content, the last chunk only after size and hash of the whole have been verified."""
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
