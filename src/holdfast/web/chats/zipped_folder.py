"""A phone folder uploaded as a ZIP archive: its files are read in place, never unpacked."""

import io
import os
import zipfile
from collections.abc import Callable
from functools import partial
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from holdfast.backup.container.takeout import ZIP_ERRORS
from holdfast.backup.errors import AttachmentDamaged, OversizedBackup, UnreadableBackup
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.services.chat_uploads import MOST_FILES, check_path

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ZIP_MAGIC", "zipped_files"]

ZIP_MAGIC: Final = b"PK\x03\x04"
# The size limit of the central directory: enough for as many files as an upload may have.
LARGEST_LIST: Final = 4 * 2**20
ENCRYPTED: Final = 0x1
# Encrypted files are incompressible: an entry that expands to more than twice its size is not from a phone.
EXPANSION: Final = 2
SLACK: Final = 64 * 2**10
TOP: Final = "zip"


class ListReader:
    """A file wrapper that limits how much `zipfile` reads at once, which reads a central directory of any size."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.seek, self.tell, self.seekable = source.seek, source.tell, source.seekable
        self.limit: int | None = LARGEST_LIST

    def read(self, size: int = -1) -> bytes:
        """Read; raise an error instead of reading more than the limit."""
        if self.limit is None:
            return self._source.read(size)
        content = self._source.read(min(size, self.limit + 1) if size >= 0 else self.limit + 1)
        if len(content) > self.limit:
            raise zipfile.BadZipFile("the list of files is too large")
        return content


class ZippedFile(io.RawIOBase):
    """A file of a ZIP archive that can be read from any position; a damaged one raises `AttachmentDamaged`.

    `zipfile` reads up to a position to seek there, so the source is positioned only when it is read: finding out
    the size reads nothing.
    """

    def __init__(self, entry: zipfile.ZipInfo, source: IO[bytes]) -> None:
        super().__init__()
        self._entry = entry
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Change the position, at most to the end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._entry.file_size}[whence]
        self._position = min(max(0, origin + offset), self._entry.file_size)
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read from the position."""
        view = memoryview(buffer).cast("B")
        try:
            if self._source.tell() != self._position:
                self._source.seek(self._position)
            piece = self._source.read(len(view))
        except ZIP_ERRORS as error:
            raise damaged(self._entry) from error
        view[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        """Close the file; the archive stays open for others."""
        if not self.closed:
            self._source.close()
        super().close()


def zipped_files(source: BinaryIO) -> dict[str, Callable[[], BinaryIO]]:
    """Return a function that opens each file of a ZIP archive, by paths that start with the zipped folder.

    Entries with paths outside of the folder (`..`, absolute) or invalid paths are skipped.
    """
    reader = ListReader(source)
    try:
        archive = zipfile.ZipFile(cast("BinaryIO", reader))
    except ZIP_ERRORS as error:
        raise UnreadableBackup("the list of files of this ZIP archive cannot be read") from error
    reader.limit = None
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and is_inside(entry.filename)]
    if len(entries) > MOST_FILES:
        raise OversizedBackup(f"there are more than {MOST_FILES:,} files in this ZIP archive")
    for entry in entries:
        if entry.flag_bits & ENCRYPTED:
            raise UnreadableBackup("this ZIP archive has a password; make one without")
        if entry.file_size > EXPANSION * entry.compress_size + SLACK:
            raise OversizedBackup("a file of this ZIP archive is compressed more than an encrypted one can be")
    if sum(entry.compress_size for entry in entries) > source.seek(0, os.SEEK_END):
        raise OversizedBackup("files of this ZIP archive overlap")
    folders = {entry.filename.partition("/")[0] if "/" in entry.filename else "" for entry in entries}
    # The files of a folder may have been zipped without the folder.
    prefix = f"{TOP}/" if len(folders) > 1 or "" in folders else ""
    return {f"{prefix}{entry.filename}": partial(open_zipped, archive, entry) for entry in entries}


def open_zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> BinaryIO:
    """Open a file of a ZIP archive, with a buffer."""
    try:
        source = archive.open(entry)
    except ZIP_ERRORS as error:
        raise damaged(entry) from error
    return cast("BinaryIO", io.BufferedReader(ZippedFile(entry, source)))


def damaged(entry: zipfile.ZipInfo) -> AttachmentDamaged:
    """Return the error for a damaged file of a ZIP archive."""
    return AttachmentDamaged(f"{entry.filename.rpartition('/')[2]} in the ZIP archive is damaged")


def is_inside(path: str) -> bool:
    """Return whether a path stays inside of the zipped folder (no path traversal)."""
    try:
        check_path(path, is_folder=True)
    except InvalidValue:
        return False
    return True
