"""Files of attachments in an export: their names, and whether a browser may display them."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Final, Literal

from holdfast.backup.archives import Archive
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.errors import AttachmentError
from holdfast.backup.exports.folder import ExportTarget
from holdfast.backup.exports.names import file_name
from holdfast.redacted_repr import redacted

__all__ = ["OCTET_STREAM", "DisplayKind", "MediaFiles", "display_kind", "extension_of", "normalize_type"]

DisplayKind = Literal["image", "video", "audio", "file"]

# Media types that a browser displays without executing anything. SVG and HTML can contain scripts and are always
# files to download.
DISPLAYED_TYPES: Final[dict[str, tuple[DisplayKind, str]]] = {
    "image/png": ("image", ".png"),
    "image/apng": ("image", ".png"),
    "image/jpeg": ("image", ".jpg"),
    "image/jpg": ("image", ".jpg"),
    "image/gif": ("image", ".gif"),
    "image/webp": ("image", ".webp"),
    "image/avif": ("image", ".avif"),
    "image/bmp": ("image", ".bmp"),
    "video/mp4": ("video", ".mp4"),
    "video/webm": ("video", ".webm"),
    "video/ogg": ("video", ".ogv"),
    "video/quicktime": ("video", ".mov"),
    "video/3gpp": ("video", ".3gp"),
    "audio/aac": ("audio", ".aac"),
    "audio/mpeg": ("audio", ".mp3"),
    "audio/mp3": ("audio", ".mp3"),
    "audio/mp4": ("audio", ".m4a"),
    "audio/x-m4a": ("audio", ".m4a"),
    "audio/ogg": ("audio", ".ogg"),
    "audio/opus": ("audio", ".opus"),
    "audio/flac": ("audio", ".flac"),
    "audio/wav": ("audio", ".wav"),
    "audio/x-wav": ("audio", ".wav"),
    "audio/webm": ("audio", ".weba"),
}
FILE_EXTENSIONS: Final = {
    "image/heic": ".heic",
    "image/heif": ".heif",
    "image/tiff": ".tif",
    "text/plain": ".txt",
    "text/x-signal-plain": ".txt",
    "text/csv": ".csv",
    "text/vcard": ".vcf",
    "text/x-vcard": ".vcf",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "application/json": ".json",
}
OCTET_STREAM: Final = "application/octet-stream"


@lru_cache(maxsize=1024)
def normalize_type(content_type: str | None) -> str:
    """Return a media type in lower case and without parameters."""
    return (content_type or OCTET_STREAM).partition(";")[0].strip().lower()


def display_kind(attachment: ArchivedAttachment) -> DisplayKind:
    """Return how a page may display a file."""
    return DISPLAYED_TYPES.get(normalize_type(attachment.content_type), ("file", ""))[0]


def extension_of(content_type: str | None) -> str:
    """Return a file extension that is not executable; `.bin` for types that are not known to be safe."""
    content_kind = normalize_type(content_type)
    return (
        DISPLAYED_TYPES[content_kind][1]
        if content_kind in DISPLAYED_TYPES
        else FILE_EXTENSIONS.get(content_kind, ".bin")
    )


@redacted
@dataclass(frozen=True, slots=True)
class MediaFiles:
    """Adds the files of attachments to an export, each once, named after the hash of its content."""

    archive: Archive
    folder: ExportTarget

    def source(self, attachment: ArchivedAttachment) -> KeptFile | None:
        """Return the file of an attachment in the media folder of the archive, if it exists."""
        return None if attachment.path is None else self.archive.kept_file(attachment.path)

    def name(self, attachment: ArchivedAttachment) -> str | None:
        """Return the path in the export of an attachment that has a file."""
        if attachment.path is None:
            return None
        content = self.content_hash(attachment, attachment.path)
        if len(content) < 16 or not content.isalnum() or not content.isascii():
            return None
        extension = extension_of(attachment.content_type)
        if display_kind(attachment) == "file":
            return f"media/{content[:2]}/{content[:16]}-{file_name(attachment.file_name, extension)}"
        return f"media/{content[:2]}/{content}{extension}"

    def content_hash(self, attachment: ArchivedAttachment, path: str | PurePath) -> str:
        """Return the hash of a file's content, which is its name except in an encrypted archive."""
        stem = PurePath(path).stem
        return stem if self.archive.key is None else attachment.plaintext_hash or stem

    def find(self, attachment: ArchivedAttachment) -> str | None:
        """Return the path in the export of an attachment whose file exists, without writing it."""
        return None if self.source(attachment) is None else self.name(attachment)

    def put(self, attachment: ArchivedAttachment) -> str | None:
        """Add the file of an attachment to the export and return its path there; None if there is no file."""
        name = self.name(attachment)
        if name is None:
            return None
        if self.folder.has(name):
            return name
        source = self.source(attachment)
        if source is None:
            return None
        try:
            self.folder.place(name, source, self.content_hash(attachment, source.path))
        except AttachmentError:
            # A damaged file is treated as missing.
            return None
        return name
