"""Writes one chat: its pages, the calendar that leads to them, and their texts for the search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import msgspec

from holdfast.backup.archive import Archive, Chat, Message, Position
from holdfast.backup.archive.model import Attachment
from holdfast.backup.export.choice import Choice
from holdfast.backup.export.folder import Folder
from holdfast.backup.export.html import pages
from holdfast.backup.export.html.bubbles import bubble, day_line, stands_with
from holdfast.backup.export.html.clock import Clock, iso
from holdfast.backup.export.html.cutting import LARGEST, Cuts, Day, cuts_of, stacks
from holdfast.backup.export.html.escaping import with_names
from holdfast.backup.export.html.words import WordIndex
from holdfast.backup.export.media import MediaFiles
from holdfast.backup.export.names import chat_name

__all__ = ["Room", "Shelf", "write_room"]


@dataclass(slots=True)
class Shelf:
    """What all chats of an export share; `listed` names every page, by its number in the index of words."""

    archive: Archive
    folder: Folder
    choice: Choice
    clock: Clock
    media: MediaFiles | None
    index: WordIndex | None
    listed: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Room:
    """A chat that was written: its folder, its last page, and what the list of chats says of it."""

    chat: Chat
    home: str
    last: str | None
    messages: int
    latest_ms: int
    preview: str


@dataclass(slots=True)
class Links:
    """Addresses as seen from the pages of a chat."""

    media_files: MediaFiles | None
    cuts: Cuts
    targets: dict[int, Position] = field(default_factory=dict)

    def media(self, attachment: Attachment) -> str | None:
        """Put a file into the export and return its address."""
        if self.media_files is None or attachment.path is None:
            return None
        name = self.media_files.put(attachment)
        return None if name is None else f"../../{quote(name)}"

    def message(self, number: int) -> str | None:
        """Return the address of a message of this chat."""
        place = self.targets.get(number)
        return None if place is None else f"{self.cuts.page(place)}.html#m{number}"


def write_room(shelf: Shelf, chat: Chat, done: Callable[[int], None]) -> Room:
    """Write the pages of a chat."""
    home = f"chats/{chat_name(chat.name, chat.id)}"
    choice = shelf.choice
    cuts = cuts_of(shelf.archive, chat.id, choice)
    writer = RoomWriter(shelf, chat, home, cuts)
    messages = shelf.archive.messages(chat.id, choice.since_ms, choice.until_ms)
    for n, stack in enumerate(stacks(messages, tuple(cuts.starts)), 1):
        writer.write(str(n), stack)
        done(len(stack))
    return writer.finish()


class RoomWriter:
    """Writes a chat page by page."""

    def __init__(self, shelf: Shelf, chat: Chat, home: str, cuts: Cuts) -> None:
        self.shelf = shelf
        self.chat = chat
        self.home = home
        self.cuts = cuts
        self.links = Links(shelf.media, cuts)
        self.days: dict[int, Day] = {}
        self.preview = ""
        self.latest_ms = 0
        self.count = 0

    def write(self, name: str, messages: Sequence[Message]) -> None:
        """Write the messages of one page; on several where they are too long for one."""
        self.links.targets = self.find(messages)
        clock, links = self.shelf.clock, self.links
        parts: list[str] = []
        size = start = 0
        before: Message | None = None
        shown: int | None = None
        today = Day(name)
        for n, message in enumerate(messages):
            day = clock.day(message.position.ms)
            if size > LARGEST:
                fresh = self.cuts.split(name, message.position)
                self.put(name, parts, messages[start:n])
                name, parts, size, start, before, shown = fresh, [], 0, n, None, None
            if day != shown:
                parts.append(day_line(day))
                shown, before = day, None
                today = self.days.setdefault(day, Day(name))
            today.messages += 1
            text = bubble(message, links, clock, day=day, follows=stands_with(before, message))
            parts.append(text)
            size += len(text)
            before = message
        self.put(name, parts, messages[start:])

    def find(self, messages: Sequence[Message]) -> dict[int, Position]:
        """Find where the messages stand that others answer to."""
        wanted = [one.quote.target_id for one in messages if one.quote and one.quote.target_id is not None]
        if not wanted:
            return {}
        rows = self.shelf.archive.connection.execute(
            "SELECT order_ms, order_n, id FROM message "
            "WHERE id IN (SELECT value FROM json_each(?1)) AND +chat_id = ?2",
            (msgspec.json.encode(wanted).decode(), self.chat.id),
        )
        choice = self.shelf.choice
        since, until = choice.since_ms or 0, choice.until_ms
        return {row[2]: Position(*row) for row in rows if row[0] >= since and (until is None or row[0] < until)}

    def put(self, name: str, parts: list[str], messages: Sequence[Message]) -> None:
        """Write one page, and its texts for the search."""
        shelf, clock = self.shelf, self.shelf.clock
        if not messages:
            return
        span = (clock.day(messages[0].position.ms), clock.day(messages[-1].position.ms))
        page = pages.chat_page(
            self.chat,
            name,
            parts,
            span,
            older=self.cuts.before(name),
            newer=self.cuts.after(name),
            search=shelf.index is not None,
        )
        shelf.folder.put(f"{self.home}/{name}.html", page.encode())
        self.count += len(messages)
        last = messages[-1]
        self.preview = said(last)
        self.latest_ms = last.position.ms
        if shelf.index is not None:
            texts = [found for one in messages if (found := searchable(one, clock)) is not None]
            authors = list(dict.fromkeys([one[1] for one in texts]))
            places = {author: n for n, author in enumerate(authors)}
            rows = [(one[0], places[one[1]], one[2], one[3]) for one in texts]
            script = msgspec.json.encode([authors, rows])
            key = msgspec.json.encode(f"{self.home}/{name}")
            shelf.folder.put(f"{self.home}/{name}.js", b"holdfast.page(%s,%s);\n" % (key, script))
            shelf.index.add(len(shelf.listed), "\n".join([one[3] for one in texts]))
            shelf.listed.append((self.home, name, max([one[2] for one in texts], default=0)))

    def finish(self) -> Room:
        """Write what leads to the pages."""
        shelf, cuts = self.shelf, self.cuts
        last = cuts.names[-1] if self.count else None
        if last is not None:
            folder = shelf.folder
            index = pages.calendar_page(self.chat, self.days, cuts, self.count, search=shelf.index is not None)
            folder.put(f"{self.home}/index.html", index.encode())
            if len(cuts.names) > 1:
                folder.put(f"{self.home}/latest.html", pages.latest_page(self.chat, last).encode())
                dates = [(iso(day), one.page) for day, one in self.days.items()]
                folder.put(f"{self.home}/dates.js", b"holdfast.dates(%s);\n" % msgspec.json.encode(dates))
        return Room(self.chat, self.home, last, self.count, self.latest_ms, self.preview)


def said(message: Message) -> str:
    """Say in a line what a message says."""
    text = with_names(message.text or "", message.ranges) or message.sentence
    text = text or ("📎" if message.attachments else "")
    line = " ".join(text[:200].split())[:90]
    name = "You" if message.direction == "outgoing" else message.author
    return f"{name}: {line}" if line and message.kind != "update" else line


def searchable(message: Message, clock: Clock) -> tuple[int, str, int, str] | None:
    """Make what the search page finds and shows of a message; times are as the clock shows them."""
    text = message.text
    if text and message.ranges:
        text = with_names(text, message.ranges)
    if message.kind == "message" and not message.attachments and not message.links:
        return (message.id, message.author, clock.shown(message.sent_ms), text) if text else None
    found = [part for part in (text, message.sentence) if part]
    for one in message.attachments:
        if one.role == "attachment" and not one.revision:
            found += [part for part in (one.file_name, one.caption) if part]
    found += [part for link in message.links for part in (link.title, link.url) if part]
    if message.poll is not None:
        found += [option.text for option in message.poll.options]
    if message.card is not None:
        found += [line.value for line in message.card.fields]
    return (message.id, message.author, clock.shown(message.sent_ms), " · ".join(found)) if found else None
