"""Writes one chat as a single HTML file with embedded style sheet and attachments."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from holdfast.backup.archives import Archive, Chat
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.bidi import isolated
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.errors import AttachmentError, ExportRefused
from holdfast.backup.exports.choice import ChatSelection, selected_chats
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.html.bubbles import GROUP_GAP_MS, bubble, day_line
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.html.markup import escape
from holdfast.backup.exports.html.pages import END, avatar
from holdfast.backup.exports.html.pagination import find_breaks_and_days
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.media import OCTET_STREAM, display_kind, normalize_type
from holdfast.redacted_repr import redacted

__all__ = ["LARGEST_FILE", "write_single_page"]

STATIC: Final = files("holdfast.backup.exports.html") / "static"
STYLE_SHEETS: Final = ("chat.css", "page.css")
# Larger attachments are only named, because browsers load the whole file.
LARGEST_FILE: Final = 50 * 2**20
# Whether a message is in a chat and a time range.
IN_EXPORT: Final = (
    "SELECT EXISTS (SELECT 1 FROM message "
    "WHERE id = ?1 AND chat_id = ?2 AND order_ms >= ?3 AND (?4 IS NULL OR order_ms < ?4))"
)


@redacted
@dataclass(frozen=True, slots=True)
class EmbeddedFiles:
    """URLs inside a single page: attachments are `data:` URLs, messages are fragments."""

    archive: Archive
    chat: Chat
    choice: ChatSelection
    with_media: bool

    def media(self, attachment: ArchivedAttachment) -> str | None:
        """Return an attachment as a `data:` URL; None if it is missing or too large."""
        if not self.with_media or attachment.path is None:
            return None
        source = self.archive.kept_file(attachment.path)
        if source is None or source.size > LARGEST_FILE:
            return None
        kind = OCTET_STREAM if display_kind(attachment) == "file" else normalize_type(attachment.content_type)
        try:
            with source.open() as file:
                content = file.read()
        except AttachmentError:
            return None
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:  # noqa: ARG002  # none is made for exports
        """Return the image itself: exports have no thumbnails."""
        return address

    def placeholder(self, attachment: ArchivedAttachment) -> str:  # noqa: ARG002  # files are in the page
        """Return an empty string: embedded files need no placeholder."""
        return ""

    def message(self, number: int | None) -> str | None:
        """Return the URL of a message; None if it is not on the page."""
        if number is None:
            return None
        values = (number, self.chat.id, self.choice.since_ms or 0, self.choice.until_ms)
        (is_there,) = self.archive.connection.execute(IN_EXPORT, values).fetchone()
        return f"#m{number}" if is_there else None


@cache
def style_sheet() -> str:
    """Return the style sheet of the page."""
    return "".join((STATIC / name).read_text(encoding="utf-8") for name in STYLE_SHEETS)


def page_start(chat: Chat) -> str:
    """Return the start of the page; its Content Security Policy allows only the embedded style and files."""
    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    # In a chat of two, author names are hidden.
    kind = "log" if chat.kind == "group" else "log two"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(isolated(chat.name))}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="chat">\n<header class="top">{avatar(chat)}'
        f'<h1 dir="auto">{escape(chat.name)}</h1></header>\n'
        f'<main id="log" tabindex="-1">\n<ol class="{kind}" lang="">\n'
    )


def message_items(addresses: EmbeddedFiles, clock: TimeFormatter) -> Iterator[tuple[str, int]]:
    """Yield list items, each with its number of messages: 1, or 0 for a day heading."""
    archive, chat, choice = addresses.archive, addresses.chat, addresses.choice
    breaks, _days = find_breaks_and_days(archive, chat.id, choice, clock)
    shown: int | None = None
    before: tuple[int, str] | None = None
    earlier = 0
    for _name, start, end in breaks.ranges():
        rows = archive.rows_between(chat.id, start, end, choice.until_ms)
        parts = archive.load_parts(rows)
        for row, day in zip(rows, clock.days([row[8] for row in rows]), strict=True):
            author, direction, kind, order = row[2], row[3], row[4], row[8]
            if day != shown:
                yield day_line(day), 0
                shown, before = day, None
            follows = before == (author, direction) and order - earlier < GROUP_GAP_MS
            yield bubble(archive.build_message(row, parts), addresses, clock, day=day, follows=follows), 1
            before, earlier = None if kind == "update" else (author, direction), order


def write_single_page(
    archive: Archive,
    target: Path,
    choice: ChatSelection,
    *,
    media: bool = True,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
) -> ExportSummary:
    """Write one chat as one new file; `zone` is the time zone of times.

    Raises `ExportRefused` unless exactly one chat is selected, and `TargetRefused` if the file exists.
    """
    chats = selected_chats(archive, choice)
    if len(chats) != 1:
        raise ExportRefused(f"a single file has exactly one chat, but {len(chats):,} are selected; name the chat")
    [chat] = chats
    completed = 0
    with write_atomically(target) as file:
        file.write(page_start(chat).encode())
        for item, messages in message_items(EmbeddedFiles(archive, chat, choice, media), TimeFormatter(zone)):
            file.write(item.encode())
            completed += messages
            if progress is not None and completed % 100 == 0:
                progress(completed, max(chat.messages, completed))
        file.write(f"</ol>\n</main>\n{END}".encode())
    return ExportSummary(1, 0, 0)
