"""The attachments of an encrypted conversation as the media folder of its archive, for an export.

No file is copied: each is authenticated and decrypted while it is read. What was written to a stream cannot be
undone, so an export verifies the whole file first, and reads it once more to write it.
"""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import cast

from holdfast.backup.archives import Archive, overview
from holdfast.backup.archives.imports import transaction
from holdfast.backup.archives.media_files import KeptFile, MediaFolder
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.chunks import as_file
from holdfast.backup.container.sealed import Changed
from holdfast.backup.errors import AttachmentDamaged, AttachmentError, AttachmentMismatch, NotInArchive
from holdfast.redacted_repr import redacted
from holdfast.web.chats.encrypted_media import EncryptedMedia

__all__ = ["EncryptedMediaFile", "EncryptedMediaFolder", "attach_media"]


@redacted
@dataclass(frozen=True, slots=True)
class EncryptedMediaFolder(MediaFolder):
    """A media folder whose files are encrypted attachments elsewhere; `problems` has those that cannot be read."""

    archive: Archive = field(kw_only=True)
    media: EncryptedMedia = field(kw_only=True)
    problems: list[str] = field(default_factory=list, kw_only=True)
    verified: dict[str, AttachmentKey | None] = field(default_factory=dict, kw_only=True)

    def find(self, place: str) -> KeptFile | None:
        """Return the file at a relative path; whether it can be read is known when it is verified."""
        rows = self.archive.connection.execute("SELECT media_name, size FROM media WHERE path = ?", (place,))
        found = rows.fetchall()
        if not found:
            return None
        return EncryptedMediaFile(
            self.path / place,
            place=place,
            folder=self,
            names=tuple(name for name, _size in found),
            content_size=found[0][1],
        )

    def verify(self, file: "EncryptedMediaFile") -> AttachmentKey:
        """Return the key of the first attachment with this content that is whole; `AttachmentError` if none is.

        The result is kept, and each problem is reported once.
        """
        if file.place not in self.verified:
            self.verified[file.place] = next(self._whole(file.names), None)
        key = self.verified[file.place]
        if key is None:
            raise AttachmentDamaged(f"the encrypted file {file.path.name} is missing or damaged")
        return key

    def _whole(self, names: tuple[str, ...]) -> Iterator[AttachmentKey]:
        """Yield the keys of attachments whose MAC and hash are valid, and report the others."""
        for name in names:
            try:
                _, key = overview.encrypted_file(self.archive, name)
                check_content(self.media, key)
            except (AttachmentError, NotInArchive) as error:
                self.problems.append(str(error))
            else:
                yield key


@redacted
@dataclass(frozen=True, slots=True)
class EncryptedMediaFile(KeptFile):
    """A file of such a folder; `names` are the attachments with this content, each encrypted with its own key."""

    folder: EncryptedMediaFolder = field(kw_only=True)
    names: tuple[str, ...] = field(kw_only=True)
    content_size: int = field(kw_only=True)

    @property
    def size(self) -> int:
        """The size of its content, as the backup gives it."""
        return self.content_size

    def open(self) -> io.BufferedReader:
        """Open its content; raises `AttachmentError` unless the whole of it is valid."""
        key = self.folder.verify(self)
        return cast("io.BufferedReader", as_file(decrypted(self.folder.media, key)))

    def digest(self) -> bytes | None:
        """Return the SHA-256 of its content; None if it is missing or damaged."""
        try:
            return self.folder.verify(self).plaintext_hash
        except AttachmentError:
            return None

    def verify(self) -> None:
        """Raise `AttachmentError` if it is missing or damaged."""
        self.folder.verify(self)


def attach_media(archive: Archive, media: EncryptedMedia) -> EncryptedMediaFolder:
    """Give an archive in memory a media folder with the encrypted attachments of its backup."""
    folder = EncryptedMediaFolder(archive.media_folder, archive=archive, media=media)
    connection = archive.connection
    connection.execute("PRAGMA query_only = OFF")
    with transaction(connection):
        rows = connection.execute(
            "SELECT media_name, plaintext_hash, size, content_type FROM attachment "
            "WHERE media_name IS NOT NULL AND plaintext_hash IS NOT NULL AND local_key IS NOT NULL "
            "ORDER BY message_id, role, n"
        )
        connection.executemany(
            "INSERT OR IGNORE INTO media VALUES (?, ?, ?, ?)",
            ((name, digest, size, folder.place_of(digest, kind or "")) for name, digest, size, kind in rows),
        )
        connection.execute("CREATE INDEX media_by_path ON media (path)")
    connection.execute("PRAGMA query_only = ON")
    archive.media = folder
    return folder


def check_content(media: EncryptedMedia, key: AttachmentKey) -> None:
    """Verify the MAC of an encrypted file and the hash of its content."""
    digest = hashlib.sha256()
    for piece in decrypted(media, key):
        digest.update(piece)
    if not compare_digest(digest.digest(), key.plaintext_hash):
        raise AttachmentMismatch(f"attachment {key.name} is whole, but is not the content the backup means")


def decrypted(media: EncryptedMedia, key: AttachmentKey) -> Iterator[bytes]:
    """Yield the content of an attachment."""
    try:
        yield from media.read(key, 0, key.size)
    except Changed:
        raise AttachmentDamaged(f"attachment {key.name} changed while it was being read") from None
