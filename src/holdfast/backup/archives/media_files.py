"""The folder beside an archive that attachments are copied to, each content once; encrypted if the archive is.

This is the one way to them: exports and pages read what `find` returns, whichever form the file has.
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
from holdfast.backup.container.whole import write_whole
from holdfast.backup.errors import AttachmentError
from holdfast.backup.media import extension_of, make_folder
from holdfast.redacted_repr import redacted

__all__ = ["KeptFile", "MediaFolder"]

CHUNK: Final = 1 << 20


@redacted
@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of the folder, at `place` in it; `key` decrypts it, and is None for one that is not encrypted."""

    path: Path
    key: MediaKey | None = None
    place: str = ""

    @property
    def size(self) -> int:
        """The size of its content, -1 for an encrypted one that is cut short; OSError if it is not there."""
        stored = self.path.stat().st_size
        return stored if self.key is None else content_size(stored)

    def open(self) -> io.BufferedReader:
        """Open its content; AttachmentDamaged, also while it is read, where an encrypted file was changed."""
        source = self.path.open("rb")
        if self.key is None:
            return source
        try:
            return io.BufferedReader(DecryptedFile(source, self.key, self.path.name), CHUNK)
        except BaseException:
            source.close()
            raise

    def digest(self) -> bytes | None:
        """Return the SHA-256 of its content; None where it cannot be read."""
        try:
            with self.open() as source:
                return hashlib.file_digest(source, "sha256").digest()
        except (OSError, AttachmentError):
            return None


@redacted
@dataclass(frozen=True, slots=True)
class MediaFolder:
    """The folder; `key` encrypts the files in it, and is None beside an archive that is not encrypted."""

    path: Path
    key: MediaKey | None = None

    def name_of(self, digest: str) -> str:
        """Return the name of the file with a content, without an extension."""
        return digest if self.key is None else self.key.name_of(digest)

    def place_of(self, digest: str, content_type: str) -> str:
        """Return the path in the folder for a content; nothing that somebody else chose becomes part of it.

        The type of an encrypted file is nobody's business either.
        """
        name = self.name_of(digest)
        extension = extension_of(content_type) if self.key is None else ""
        return f"{name[:2]}/{name}{extension}"

    def find(self, place: str) -> KeptFile | None:
        """Find a file by its path in the folder, if it is there."""
        # The archive is a file that may come from anybody: its paths lead nowhere but into its own folder.
        relative = PurePosixPath(place)
        if not relative.parts or relative.is_absolute() or ".." in relative.parts:
            return None
        path = self.path / relative
        return KeptFile(path, self.key, place) if path.is_file() else None

    @contextmanager
    def write(self, place: str) -> Iterator[BinaryIO | EncryptedFileWriter]:
        """Write a file of the folder, which appears whole or not at all."""
        target = self.path / place
        make_folder(target.parent)
        with write_whole(target, replace=True) as out:
            if self.key is None:
                yield out
            else:
                writer = EncryptedFileWriter(out, self.key, target.name)
                yield writer
                writer.finish()

    def files(self) -> Iterator[Path]:
        """Yield the files in it, also those that were left under temporary names."""
        if not self.path.is_dir():
            return
        for folder in sorted(self.path.iterdir()):
            if folder.is_dir() and not folder.is_symlink():
                with os.scandir(folder) as entries:
                    yield from sorted(
                        Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)
                    )
