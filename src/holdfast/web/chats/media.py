"""Serves attachments that are stored with the archive, only as media types that browsers do not execute."""

from collections.abc import Iterator
from typing import Final

from holdfast.backup.archives import Archive, overview
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.errors import AttachmentError
from holdfast.backup.exports.media import display_kind, extension_of, normalize_type
from holdfast.web.chats.thumbnails import MEDIA_TYPE as THUMBNAIL_TYPE
from holdfast.web.chats.thumbnails import may_have_thumbnail, thumbnail
from holdfast.web.chats.view import (
    ConversationRequest,
    EncryptedMediaResult,
    MediaResult,
    PageNotFound,
    ThumbnailResult,
)

__all__ = [
    "POLICY",
    "file_chunks",
    "show_attachment",
    "show_attachment_thumbnail",
    "show_file",
    "show_file_thumbnail",
]

# The policy of a file that is opened on its own: no scripts, no subresources, an opaque origin.
POLICY: Final = "default-src 'none'; sandbox"
TEXTS: Final = frozenset({"text/plain", "text/x-signal-plain"})
CHUNK: Final = 256 * 1024
HEX: Final = frozenset("0123456789abcdef")


def show_file(view: ConversationRequest, digest: str) -> MediaResult:
    """Return the file with a content hash."""
    attachment = overview.kept_file(view.archive, checked_name(digest))
    file = file_of(view.archive, attachment)
    media_type, inline = type_to_serve(attachment)
    return MediaResult(file, media_type, file_name(attachment, digest), inline=inline)


def show_attachment(view: ConversationRequest, media_name: str) -> EncryptedMediaResult:
    """Return an encrypted file of a phone folder by its name; its MAC is checked before anything is sent."""
    if view.opened.media is None:
        raise PageNotFound
    attachment, key = overview.encrypted_file(view.archive, checked_name(media_name))
    try:
        view.opened.media.authenticate(key)
    except AttachmentError:
        raise PageNotFound from None
    media_type, inline = type_to_serve(attachment)
    return EncryptedMediaResult(
        view.opened.media, key, media_type, file_name(attachment, media_name), inline=inline
    )


def show_file_thumbnail(view: ConversationRequest, digest: str) -> MediaResult | ThumbnailResult:
    """Return the thumbnail of the photo with a content hash, or the photo itself if it has none."""
    result = show_file(view, digest)
    size = result.file.size
    if not may_have_thumbnail(result.media_type, size):
        return result
    content = thumbnail(digest, lambda: b"".join(file_chunks(result.file, 0, size)))
    return result if content is None else ThumbnailResult(content, THUMBNAIL_TYPE)


def show_attachment_thumbnail(
    view: ConversationRequest, media_name: str
) -> EncryptedMediaResult | ThumbnailResult:
    """Return the thumbnail of an encrypted photo of a phone folder, or the photo itself if it has none."""
    result = show_attachment(view, media_name)
    size = result.attachment.size
    if not may_have_thumbnail(result.media_type, size):
        return result
    content = thumbnail(media_name, lambda: b"".join(result.media.read(result.attachment, 0, size)))
    return result if content is None else ThumbnailResult(content, THUMBNAIL_TYPE)


def checked_name(name: str) -> str:
    """Return a file name if it is 64 hexadecimal digits; otherwise raise `PageNotFound`."""
    if len(name) != 64 or not HEX.issuperset(name):
        raise PageNotFound
    return name


def type_to_serve(attachment: ArchivedAttachment) -> tuple[str, bool]:
    """Return the media type a file is served as, and whether a browser may show it."""
    kind = normalize_type(attachment.content_type)
    if kind in TEXTS:
        return "text/plain; charset=utf-8", True
    inline = display_kind(attachment) != "file"
    return kind if inline else "application/octet-stream", inline


def file_name(attachment: ArchivedAttachment, digest: str) -> str:
    """Return the file name for downloads."""
    return attachment.file_name or f"{digest[:12]}{extension_of(attachment.content_type)}"


def file_of(archive: Archive, attachment: ArchivedAttachment) -> KeptFile:
    """Return the file of an attachment; archives are untrusted, so it is confined to their folder."""
    file = archive.kept_file(attachment.path or "")
    if file is None or not file.path.resolve().is_relative_to(archive.media_folder.resolve()):
        raise PageNotFound
    try:
        # Opening an encrypted file authenticates its last chunk.
        file.open().close()
    except (AttachmentError, OSError):
        raise PageNotFound from None
    return file


def file_chunks(kept_file: KeptFile, start: int, stop: int) -> Iterator[bytes]:
    """Yield a byte range of a file."""
    with kept_file.open() as file:
        file.seek(start)
        while start < stop and (piece := file.read(min(CHUNK, stop - start))):
            start += len(piece)
            yield piece
