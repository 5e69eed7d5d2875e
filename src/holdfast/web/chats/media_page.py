"""The media page: pictures and videos by month, voice messages, files and links, of all chats or one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_args

from holdfast.backup.archives import Filters, Message
from holdfast.backup.archives.gallery import FileFamily, SentAttachment, sent_files
from holdfast.backup.exports.html.files import label, size_label
from holdfast.backup.exports.html.markup import is_address, links_of
from holdfast.backup.exports.media import display_kind
from holdfast.web.chats.chat_page import MessageLinks
from holdfast.web.chats.people_page import truncate_names
from holdfast.web.chats.search_page import chat_choices
from holdfast.web.chats.view import (
    ConversationRequest,
    PageNotFound,
    TemplateResult,
    parse_id,
    to_datetime,
    truncate,
)

__all__ = ["show_media"]

TILES: Final = 60
ROWS: Final = 50
MOST_PEOPLE: Final = 200
MOST_LINKS: Final = 10
KINDS: Final = {
    "media": "Photos and videos",
    "photo": "Photos",
    "video": "Videos",
    "audio": "Audio",
    "file": "Files",
    "link": "Links",
}


@dataclass(frozen=True, slots=True)
class MediaTile:
    """A file on the page: `show` is how a browser shows it, `file` its URL, empty if it is not stored."""

    show: str
    file: str
    placeholder: str
    message: str
    name: str
    size: str
    author: str
    when: datetime | None


@dataclass(frozen=True, slots=True)
class SentLink:
    """A link in a message, with the text of its preview."""

    address: str
    title: str
    description: str
    message: str
    author: str
    when: datetime | None


def show_media(view: ConversationRequest) -> TemplateResult:
    """Show the media of the selected kind, newest first."""
    kind = view.query.get("kind") or "media"
    if kind not in KINDS:
        raise PageNotFound
    chosen = view.query.get("chat", "")
    chat = view.chat(chosen) if chosen else None
    person = parse_id(view.query["from"]) if view.query.get("from") else None
    query: dict[str, object] = {"chat": None if chat is None else chat.id, "from": person}
    values: dict[str, object] = {
        "kind": kind,
        "kinds": [(family, name, view.address("media", **query, kind=family)) for family, name in KINDS.items()],
        "chat": chat,
        "person": person,
        "chats": chat_choices(view),
        "people": people_choices(view),
        "months": [],
        "links": [],
    }
    if kind == "link":
        values["links"], more = find_links(view, None if chat is None else str(chat.id), person)
    else:
        values["months"], more = find_files(view, kind, None if chat is None else chat.id, person)
    values["more"] = view.address("media", **query, kind=kind, below=more) if more else ""
    title = KINDS[kind] if chat is None else f"{KINDS[kind]} of {chat.name}"
    return TemplateResult("chats/media.html", title, values)


def find_files(
    view: ConversationRequest, kind: str, chat: int | None, person: int | None
) -> tuple[list[tuple[str, list[MediaTile]]], str]:
    """Return files by month, and the cursor of the next page (keyset pagination)."""
    family: FileFamily = next(choice for choice in get_args(FileFamily) if choice == kind)
    media_page = sent_files(
        view.archive,
        family,
        chat=chat,
        author=person,
        below=parse_place(view.query.get("below", "")),
        limit=TILES,
    )
    links = MessageLinks(view)
    months: dict[str, list[MediaTile]] = {}
    for attachment in media_page.files:
        tile = make_tile(links, attachment)
        months.setdefault("Unknown date" if tile.when is None else f"{tile.when:%B %Y}", []).append(tile)
    return list(months.items()), "" if media_page.more is None else f"{media_page.more[0]}.{media_page.more[1]}"


def parse_place(text: str) -> tuple[int, int] | None:
    """Parse the cursor that a page starts at."""
    if not text:
        return None
    message, _, number = text.partition(".")
    return parse_id(message), parse_id(number)


def make_tile(links: MessageLinks, sent: SentAttachment) -> MediaTile:
    """Return the tile of a file."""
    attachment = sent.attachment
    address = links.media(attachment) or ""
    return MediaTile(
        display_kind(attachment),
        links.thumbnail(attachment, address) if address else "",
        links.placeholder(attachment),
        links.message(sent.message_id) or "",
        truncate(attachment.file_name or "") or label(attachment),
        size_label(attachment.size) if attachment.size else "",
        truncate(sent.author, 60),
        to_datetime(sent.sent_ms),
    )


def find_links(view: ConversationRequest, chat: str | None, person: int | None) -> tuple[list[SentLink], str]:
    """Return links in messages and previews, and the cursor of the next page (keyset pagination)."""
    filters = Filters(chat=chat, person=None if person is None else str(person), has_link=True)
    below = parse_id(view.query["below"]) if view.query.get("below") else None
    results = view.archive.search("", filters=filters, limit=ROWS, below=below)
    links = [link for hit in results.hits for link in links_in(view, hit.message)]
    return links, "" if results.more is None else str(results.more)


def links_in(view: ConversationRequest, message: Message) -> list[SentLink]:
    """Return the links of one message: those with a preview, then those that are only in the text."""
    text = message.text or ""
    shown = {
        link.url: (link.title or "", link.description or "") for link in message.links if is_address(link.url)
    }
    for start, end in links_of(text):
        shown.setdefault(text[start:end], ("", ""))
    return [
        SentLink(
            address,
            truncate(title),
            truncate(description),
            view.address(f"to/{message.id}"),
            truncate(message.author, 60),
            to_datetime(message.sent_ms),
        )
        for address, (title, description) in list(shown.items())[:MOST_LINKS]
    ]


def people_choices(view: ConversationRequest) -> list[tuple[int, str]]:
    """Return the people to choose from, by number of messages."""
    people = view.opened.cached("people", lambda: [truncate_names(person) for person in view.archive.people()])
    wrote = sorted((person for person in people if person.messages), key=lambda author: -author.messages)
    return [(person.id, "You" if person.kind == "self" else person.name[:60]) for person in wrote[:MOST_PEOPLE]]
