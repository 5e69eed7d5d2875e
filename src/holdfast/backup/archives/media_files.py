"""The media folder of an archive: content-addressed attachment files, encrypted if the archive is.

Exports and pages read attachments through `find` only, whether they are encrypted or not.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from holdfast.backup.archives.media_cipher import DecryptedFile, EncryptedFileWriter, MediaKey, content_size
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.errors import AttachmentDamaged, AttachmentError
from holdfast.backup.media import extension_of, make_folder
from holdfast.redacted_repr import redacted

__all__ = ["KeptFile", "MediaFolder"]

CHUNK: Final = 1 << 20


@redacted
@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of the media folder, at `place` in it; `key` decrypts it, and is None for an unencrypted one."""

    path: Path
    key: MediaKey | None = None
    place: str = ""

    @property
    def size(self) -> int:
        """The size of its content, -1 for a truncated encrypted file; raises OSError if it is missing."""
        stored = self.path.stat().st_size
        return stored if self.key is None else content_size(stored)

    def open(self) -> io.BufferedReader:
        """Open its content; raises AttachmentDamaged, also while reading, if an encrypted file was modified."""
        source = self.path.open("rb")
        if self.key is None:
            return source
        try:
            return io.BufferedReader(DecryptedFile(source, self.key, self.path.name), CHUNK)
        except BaseException:
            source.close()
            raise

    def digest(self) -> bytes | None:
        """Return the SHA-256 of its content; None if it cannot be read."""
        try:
            with self.open() as source:
                return hashlib.file_digest(source, "sha256").digest()
        except (OSError, AttachmentError):
            return None

    def verify(self) -> None:
        """Read an encrypted file to its end; raises AttachmentDamaged if it was modified or is missing."""
        if self.key is not None and self.digest() is None:
            raise AttachmentDamaged(f"the encrypted file {self.path.name} is damaged")


@redacted
@dataclass(frozen=True, slots=True)
class MediaFolder:
    """The media folder; `key` encrypts its files, and is None if the archive is not encrypted."""

    path: Path
    key: MediaKey | None = None

    def name_of(self, digest: str) -> str:
        """Return the file name for a content hash, without an extension."""
        return digest if self.key is None else self.key.name_of(digest)

    def place_of(self, digest: str, content_type: str) -> str:
        """Return the relative path for a content hash; it contains nothing from the backup but a known extension.

        The name of an encrypted file has no extension, as that would reveal its type.
        """
        name = self.name_of(digest)
        extension = extension_of(content_type) if self.key is None else ""
        return f"{name[:2]}/{name}{extension}"

    def find(self, place: str) -> KeptFile | None:
        """Return the file at a relative path, or None if there is none."""
        # Archives are untrusted: a path must not lead out of the folder.
        relative = PurePosixPath(place)
        if not relative.parts or relative.is_absolute() or ".." in relative.parts:
            return None
        path = self.path / relative
        return KeptFile(path, self.key, place) if path.is_file() else None

    @contextmanager
    def write(self, place: str) -> Iterator[BinaryIO | EncryptedFileWriter]:
        """Write a file of the folder atomically."""
        target = self.path / place
        make_folder(target.parent)
        with write_atomically(target, replace=True) as out:
            if self.key is None:
                yield out
            else:
                writer = EncryptedFileWriter(out, self.key, target.name)
                yield writer
                writer.finish()

    def files(self) -> Iterator[Path]:
        """Yield its files, including leftover temporary files."""
        if not self.path.is_dir():
            return
        for folder in sorted(self.path.iterdir()):
            if folder.is_dir() and not folder.is_symlink():
                with os.scandir(folder) as entries:
                    yield from sorted(
                        Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)
                    )
