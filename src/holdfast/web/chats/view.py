"""The request and the result types of conversation pages: a template, a media file, or a redirect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

from msgspec.structs import replace

from holdfast.backup.archives import Archive, Chat, Position
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.dates import moment
from holdfast.web.chats.encrypted_media import EncryptedMedia
from holdfast.web.chats.open_archive import OpenArchive

__all__ = [
    "Answer",
    "ConversationRequest",
    "EncryptedMediaResult",
    "MediaResult",
    "PageNotFound",
    "RedirectResult",
    "TemplateResult",
    "ThumbnailResult",
    "format_position",
    "page_number",
    "parse_id",
    "parse_position",
    "to_datetime",
    "truncate",
]

LARGEST: Final = (1 << 63) - 1


class PageNotFound(Exception):
    """The conversation has no such page."""


@dataclass(frozen=True, slots=True)
class TemplateResult:
    """A page: a template and its values."""

    template: str
    title: str
    values: Mapping[str, object] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class MediaResult:
    """A media file beside an archive: the file, its media type and file name; an attachment unless `inline`."""

    file: KeptFile
    media_type: str
    name: str
    inline: bool


@dataclass(frozen=True, slots=True)
class EncryptedMediaResult:
    """A media file that is decrypted while it is sent."""

    media: EncryptedMedia
    attachment: AttachmentKey
    media_type: str
    name: str
    inline: bool


@dataclass(frozen=True, slots=True)
class ThumbnailResult:
    """A thumbnail of a photo."""

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class RedirectResult:
    """A redirect to another URL."""

    address: str


Answer = TemplateResult | MediaResult | EncryptedMediaResult | ThumbnailResult | RedirectResult


@dataclass(frozen=True, slots=True)
class ConversationRequest:
    """A request for a page of a conversation; `base` is its URL path, without a trailing slash."""

    opened: OpenArchive
    archive: Archive
    base: str
    query: Mapping[str, str]

    def address(self, path: str, **query: object) -> str:
        """Return the URL of another page of the conversation."""
        asked = urlencode({name: value for name, value in query.items() if value not in {None, ""}})
        return f"{self.base}/{quote(path)}{f'?{asked}' if asked else ''}"

    def chats(self) -> dict[int, Chat]:
        """Return all chats by their ids, in the order of the list."""

        def read() -> dict[int, Chat]:
            return {chat.id: replace(chat, name=truncate(chat.name)) for chat in self.archive.chats()}

        return self.opened.cached("chats", read)

    def chat(self, number: str) -> Chat:
        """Return the chat with the id of a URL; raise `PageNotFound` if there is none."""
        chat = self.chats().get(parse_id(number))
        if chat is None:
            raise PageNotFound
        return chat


def truncate(text: str, most: int = 150) -> str:
    """Truncate an untrusted text."""
    return text if len(text) <= most else f"{text[:most]}…"


def parse_id(text: str) -> int:
    """Parse an id of a URL."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > LARGEST:
        raise PageNotFound
    return int(text)


def page_number(view: ConversationRequest) -> int:
    """Return the requested page number of a list."""
    text = view.query.get("page", "1")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 8 else 1


def format_position(place: Position) -> str:
    """Format a position in a chat for a URL."""
    return f"{place.ms}.{place.n}.{place.id}"


def parse_position(text: str) -> Position:
    """Parse a position in a chat from a URL."""
    parts = text.split(".")
    if len(parts) != 3:
        raise PageNotFound
    return Position(*(parse_id(part) for part in parts))


def to_datetime(ms: int | None) -> datetime | None:
    """Convert a timestamp of an archive to a `datetime`; None if it is out of range."""
    return None if ms is None else moment(ms)
