"""Serves attachments that are stored with the archive, only as media types that browsers do not execute."""

from pathlib import Path, PurePosixPath
from typing import Final

from holdfast.backup.archives import Archive, overview
from holdfast.backup.archives.model import Attachment
from holdfast.backup.exports.media import extension_of, kind_of, show
from holdfast.web.chats.view import ConversationRequest, MediaResult, PageNotFound

__all__ = ["POLICY", "show_file"]

# A file is shown by itself: it runs nothing, loads nothing, and is of no origin.
POLICY: Final = "default-src 'none'; sandbox"
TEXTS: Final = frozenset({"text/plain", "text/x-signal-plain"})
HEX: Final = frozenset("0123456789abcdef")


def show_file(view: ConversationRequest, digest: str) -> MediaResult:
    """Find the file with a content."""
    if len(digest) != 64 or not HEX.issuperset(digest):
        raise PageNotFound
    attachment = overview.kept_file(view.archive, digest)
    path = file_of(view.archive, attachment)
    kind = kind_of(attachment.content_type)
    name = attachment.file_name or f"{digest[:12]}{extension_of(attachment.content_type)}"
    if kind in TEXTS:
        return MediaResult(path, "text/plain; charset=utf-8", name, inline=True)
    inline = show(attachment) != "file"
    return MediaResult(path, kind if inline else "application/octet-stream", name, inline=inline)


def file_of(archive: Archive, attachment: Attachment) -> Path:
    """Return the path of an attachment; archives are untrusted, so it is confined to their folder."""
    relative = PurePosixPath(attachment.path or "")
    if not relative.parts or relative.is_absolute() or ".." in relative.parts:
        raise PageNotFound
    folder = archive.media_folder.resolve()
    path = (folder / relative).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        raise PageNotFound
    return path
