"""The plaintext export ("takeout"): JSON Lines and, beside them, the media as ordinary files.

It is a folder or a ZIP archive. A media file is found by its name without the extension, which depends on the
program.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol, Self

from holdfast.backup.container.chunks import CHUNK, as_file
from holdfast.backup.container.contained_files import open_contained
from holdfast.backup.container.folder import folders_in
from holdfast.backup.container.gunzip import GunzipLimits
from holdfast.backup.errors import AttachmentMissing, DamagedBackup, UnreadableBackup
from holdfast.backup.file_types import refuse_zip
from holdfast.redacted_repr import redacted

__all__ = ["LINES", "FolderExport", "ZipExport", "find_export"]

LINES: Final = "main.jsonl"
MEDIUM: Final = re.compile(r"(?:.*/)?files/[0-9a-f]{2}/([0-9a-f]{64})(?:\.[^/]*)?")
# The exceptions of the standard library for a damaged or unsupported ZIP archive.
ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OSError,
)


class PlaintextExport(Protocol):
    """A plaintext export, in a folder or a ZIP archive."""

    def open_lines(self) -> BinaryIO:
        """Open the JSON Lines."""

    def open_medium(self, name: str) -> BinaryIO:
        """Open a medium by its name."""

    def has_media(self) -> bool:
        """Return whether there are any media."""


@redacted
@dataclass(frozen=True, slots=True)
class FolderExport:
    """An export in a folder."""

    path: Path

    def open_lines(self) -> BinaryIO:
        """Open the JSON Lines."""
        return open_contained(self.path, self.path / LINES)

    def open_medium(self, name: str) -> BinaryIO:
        """Open a medium by its name, whatever its extension."""
        shard = self.path / "files" / name[:2]
        for candidate in sorted(shard.glob(f"{name}*")):
            if candidate.name.partition(".")[0] == name:
                return open_contained(self.path, candidate)
        raise AttachmentMissing(f"attachment {name} is not in the export")

    def has_media(self) -> bool:
        """Return whether there is a folder for media."""
        return (self.path / "files").is_dir()


@redacted
@dataclass(frozen=True, slots=True)
class ZipExport:
    """An export in a ZIP archive; nothing is extracted to paths from the archive."""

    archive: zipfile.ZipFile
    lines: str
    media: dict[str, str] = field(repr=False)
    limits: GunzipLimits = field(default_factory=GunzipLimits)

    @classmethod
    def read(cls, source: BinaryIO, *, limits: GunzipLimits | None = None) -> Self:
        """Read the directory of a ZIP archive."""
        try:
            archive = zipfile.ZipFile(source)
        except ZIP_ERRORS as error:
            raise UnreadableBackup("this is a ZIP, but its list of files cannot be read") from error
        names = archive.namelist()
        lines = sorted(
            (name for name in names if name.rpartition("/")[2] == LINES), key=lambda name: name.count("/")
        )
        if not lines:
            refuse_zip(names)
            raise UnreadableBackup(f"this is a ZIP, but no export of a chat backup: it holds no {LINES}")
        media = {match[1]: name for name in names if (match := MEDIUM.fullmatch(name))}
        return cls(archive, lines[0], media, limits or GunzipLimits())

    def open_lines(self) -> BinaryIO:
        """Open the JSON Lines."""
        return self._open(self.lines)

    def open_medium(self, name: str) -> BinaryIO:
        """Open a medium by its name, whatever its extension."""
        entry = self.media.get(name)
        if entry is None:
            raise AttachmentMissing(f"attachment {name} is not in the export")
        return self._open(entry)

    def has_media(self) -> bool:
        """Return whether the ZIP archive has any media."""
        return bool(self.media)

    def _open(self, entry: str) -> BinaryIO:
        return as_file(self._content(entry))

    def _content(self, entry: str) -> Iterator[bytes]:
        opened = 0
        packed = max(1, self.archive.getinfo(entry).compress_size)
        with self._readable(entry) as source:
            while True:
                try:
                    chunk = source.read(CHUNK)
                except ZIP_ERRORS as error:
                    raise DamagedBackup(f"{entry} in the ZIP is damaged", offset=opened, stream=entry) from error
                if not chunk:
                    return
                opened += len(chunk)
                self.limits.hold(opened, packed)
                yield chunk

    @contextmanager
    def _readable(self, entry: str) -> Iterator[BinaryIO]:
        try:
            source = self.archive.open(entry)
        except ZIP_ERRORS as error:
            raise UnreadableBackup(f"{entry} in the ZIP cannot be opened: it is encrypted or damaged") from error
        with source:
            yield source  # type: ignore[misc]  # typed as IO[bytes], which is what BinaryIO is


def find_export(path: Path) -> FolderExport | None:
    """Return the export in a folder: the folder itself or, in early exports, its subfolder."""
    for place in (path, *(child for child in folders_in(path) if child.name.startswith("signal-"))):
        if (place / LINES).is_file():
            return FolderExport(place)
    return None
