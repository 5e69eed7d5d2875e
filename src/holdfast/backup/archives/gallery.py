"""Lists sent files, the latest first, filtered by type, chat and author."""

from typing import Final, Literal

from msgspec import Struct

from holdfast.backup.archives import model
from holdfast.backup.archives.integrity import check_types
from holdfast.backup.archives.reader import ArchiveReader
from holdfast.redacted_repr import redacted

__all__ = ["FileFamily", "MediaPage", "SentAttachment", "sent_files"]

FileFamily = Literal["media", "photo", "video", "audio", "file"]

MAX_LIMIT: Final = 500
LAST: Final = (1 << 63) - 1
# By content type; anything else is a document.
FAMILIES: Final[dict[FileFamily, str]] = {
    "media": "(a.content_type LIKE 'image/%' OR a.content_type LIKE 'video/%')",
    "photo": "a.content_type LIKE 'image/%'",
    "video": "a.content_type LIKE 'video/%'",
    "audio": "a.content_type LIKE 'audio/%'",
    "file": (
        "(a.content_type IS NULL OR NOT (a.content_type LIKE 'image/%' OR a.content_type LIKE 'video/%' "
        "OR a.content_type LIKE 'audio/%'))"
    ),
}


@redacted
class SentAttachment(Struct, frozen=True):
    """An attachment with its message."""

    message_id: int
    chat_id: int
    author_id: int
    author: str
    sent_ms: int
    attachment: model.ArchivedAttachment


@redacted
class MediaPage(Struct, frozen=True):
    """A page of files; `more` is the value of `below` for the next page, None on the last."""

    files: tuple[SentAttachment, ...]
    more: tuple[int, int] | None


def sent_files(
    reader: ArchiveReader,
    family: FileFamily,
    *,
    chat: int | None = None,
    author: int | None = None,
    below: tuple[int, int] | None = None,
    limit: int = 60,
) -> MediaPage:
    """List files, the latest first; `below` is a cursor: the id of a message and the number of a file in it.

    The primary key of `attachment` begins with the message id, which is ordered by time: only the rows of one
    message are sorted.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    message, number = below or (LAST, LAST)
    conditions = [FAMILIES[family], "a.role = 'attachment'", "a.revision = 0"]
    values: list[int] = [message, message, number]
    for column, value in (("m.chat_id", chat), ("m.author_id", author)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    rows = reader.connection.execute(
        "SELECT a.message_id, m.chat_id, m.author_id, m.sent_ms, a.role, a.n, a.revision, a.content_type, "
        "a.file_name, a.size, a.width, a.height, a.caption, a.flag, a.plaintext_hash, a.media_name, d.path, "
        "a.blur_hash FROM attachment a CROSS JOIN message m ON m.id = a.message_id "
        "LEFT JOIN media d ON d.media_name = a.media_name "
        f"WHERE a.message_id <= ? AND (a.message_id < ? OR a.n < ?) AND {' AND '.join(conditions)} "
        "ORDER BY a.message_id DESC, a.n DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    files = tuple(
        check_types(
            SentAttachment(
                number, chat_id, author_id, reader.names.name(author_id), sent_ms, model.ArchivedAttachment(*file)
            )
        )
        for number, chat_id, author_id, sent_ms, *file in rows[:limit]
    )
    last = files[-1] if len(rows) > limit else None
    return MediaPage(files, None if last is None else (last.message_id, last.attachment.n))
