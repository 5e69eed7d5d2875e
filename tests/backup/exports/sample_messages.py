"""Sample messages and attachments, and an HTML parser that checks the pages rendered from them."""

import re
from html.parser import HTMLParser
from typing import Any

from holdfast.backup.archives.model import ArchivedAttachment, Message, Position

VOID = {"meta", "link", "img", "input", "br"}
# What pages are made of; nothing else may ever stand in one.
TAGS = re.compile(
    "html|head|meta|link|title|script|body|header|main|nav|section|div|[ou]l|li|details|summary|h[123]|p|a|b|i|s|span|"
    "small|code|bdi|time|blockquote|img|video|audio|progress|form|input|select|option|button"
)
ATTRIBUTES = re.compile(
    "class|id|href|src|rel|dir|lang|alt|width|height|loading|controls|preload|loop|download|title|datetime|role|max|"
    "value|tabindex|charset|name|content|http-equiv|defer|type|placeholder|autofocus|hidden|data-home|data-jump|"
    "aria-(hidden|label|disabled)"
)
ADDRESS = re.compile(
    r"https?://.+|(\.\./\.\./)?(assets|media|chats)/[^:]+|(\.\./\.\./)?[\w-]+\.html(#[\w=-]+)?|#[\w-]+",
    re.IGNORECASE,
)


def message(text: str | None = "Hello", **more: Any) -> Message:
    """Return a message."""
    sent = more.pop("sent_ms", 1_700_000_000_000)
    number = more.pop("id", 7)
    facts: dict[str, Any] = {
        "id": number,
        "chat_id": 1,
        "chat": "Ada",
        "author_id": 2,
        "author": "Ada",
        "direction": "incoming",
        "kind": "message",
        "text": text,
        "sentence": None,
        "sent_ms": sent,
        "received_ms": sent,
        "position": Position(sent, 0, number),
        "sms": False,
        "expires_in_ms": None,
        "pinned_ms": None,
        "vanished_ms": None,
    }
    return Message(**(facts | more))


def attachment(**more: Any) -> ArchivedAttachment:
    """Return an attachment."""
    facts: dict[str, Any] = {
        "role": "attachment",
        "n": 0,
        "revision": 0,
        "content_type": "image/jpeg",
        "file_name": "photo.jpg",
        "size": 1234,
        "width": 40,
        "height": 30,
        "caption": None,
        "flag": "NONE",
        "plaintext_hash": None,
        "media_name": None,
        "path": "ab/abababababababab.jpg",
    }
    return ArchivedAttachment(**(facts | more))


class Addresses:
    """URLs of files and messages, as in the pages of an export."""

    def media(self, attachment: ArchivedAttachment) -> str | None:
        """Return the URL of a file."""
        return None if attachment.path is None else f"../../media/{attachment.path}"

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:
        """Return the URL of the picture itself."""
        del attachment
        return address

    def placeholder(self, attachment: ArchivedAttachment) -> str:  # noqa: ARG002  # files of an export are at hand
        """Return nothing, as the pages of an export do."""
        return ""

    def message(self, number: int) -> str | None:
        """Return the URL of a message."""
        return f"1.html#m{number}"


class PageParser(HTMLParser):
    """An HTML parser that fails on elements and attributes that exported pages never have."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    @property
    def text(self) -> str:
        """All text of the page."""
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check an element."""
        assert TAGS.fullmatch(tag), tag
        self.tags.append(tag)
        for name, value in attrs:
            assert ATTRIBUTES.fullmatch(name), name
            if name in {"href", "src"}:
                assert value is not None
                assert ADDRESS.fullmatch(value), value
                self.links.append(value)
            if name == "id":
                self.ids.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that elements nest."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Refuse comments."""
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        """Fail on an unknown declaration."""
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        """Fail on a processing instruction."""
        raise AssertionError(data)
