"""Writes one chat: its pages, the calendar that leads to them, and their texts for the search.

What would be the same as the last time is not drawn again, see `sources`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import msgspec

from holdfast.backup.archive import Archive, Chat, Message, Position
from holdfast.backup.archive.completing import QUOTES, Row
from holdfast.backup.archive.model import Attachment
from holdfast.backup.export.choice import Choice
from holdfast.backup.export.folder import Folder
from holdfast.backup.export.html import pages
from holdfast.backup.export.html.bubbles import bubble, day_line, stands_with
from holdfast.backup.export.html.clock import Clock, iso
from holdfast.backup.export.html.cutting import LARGEST, Cuts, cuts_of
from holdfast.backup.export.html.escaping import with_names
from holdfast.backup.export.html.sources import (
    MARKS,
    Asked,
    Drawn,
    File,
    Kept,
    Part,
    Sources,
    marks,
    recalled,
)
from holdfast.backup.export.html.words import WordIndex, page_script
from holdfast.backup.export.media import MediaFiles
from holdfast.backup.export.names import chat_name
from holdfast.backup.export.stamps import digest

__all__ = ["Listed", "Room", "RoomWriter", "Sheet", "Shelf", "write_room"]


class Listed(msgspec.Struct, frozen=True):
    """A page by its number in the index of words: where it is, the latest text on it, and whether it was drawn."""

    home: str
    name: str
    latest: int
    texts: str
    drawn: bool


class Sheet(msgspec.Struct):
    """What came of drawing a page somewhere else.

    Its files, what to remember, the files of attachments with where they come from, and for the index of words the
    pages it became with the words on each; when it became several, they are only good where none before it did.
    """

    files: list[tuple[str, bytes]] = []
    notes: list[tuple[str, bytes]] = []
    placed: list[tuple[str, str, str | None]] = []
    listed: list[Listed] = []
    words: list[list[str]] = []
    count: int = 0
    latest_ms: int = 0
    preview: str = ""
    is_split: bool = False


@dataclass(slots=True)
class Shelf:
    """What all chats of an export share; `listed` has every page in the order of their numbers."""

    archive: Archive
    folder: Folder
    choice: Choice
    clock: Clock
    media: MediaFiles | None
    index: WordIndex | None
    sources: Sources
    listed: list[Listed] = field(default_factory=list)


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
    """Addresses as seen from the pages of a chat; `asked` has the files that pages wanted to show."""

    media_files: MediaFiles | None
    cuts: Cuts
    targets: dict[int, Position] = field(default_factory=dict)
    asked: dict[File, str | None] = field(default_factory=dict)

    def media(self, attachment: Attachment) -> str | None:
        """Put a file into the export and return its address."""
        if self.media_files is None or attachment.media_name is None:
            return None
        name = self.media_files.put(attachment)
        self.asked[attachment.media_name, attachment.content_type, attachment.file_name] = name
        return None if name is None else f"../../{quote(name)}"

    def message(self, number: int | None) -> str | None:
        """Return the address of a message of this chat."""
        place = None if number is None else self.targets.get(number)
        return None if place is None else f"{self.cuts.page(place)}.html#m{number}"


def write_room(writer: "RoomWriter", sheets: Iterator[Sheet | None], done: Callable[[int], None]) -> Room:
    """Write the pages of a chat, as far as they are drawn already from their sheets."""
    stretches = writer.cuts.stretches()
    for (name, start, end), sheet in zip(stretches, sheets, strict=False):
        is_fit = sheet is not None and not sheet.is_split and len(writer.cuts.names) == len(stretches)
        done(writer.take(sheet) if sheet is not None and is_fit else writer.write(name, start, end))
    return writer.finish()


class RoomWriter:
    """Writes a chat page by page."""

    def __init__(self, shelf: Shelf, chat: Chat) -> None:
        self.shelf = shelf
        self.chat = chat
        self.home = f"chats/{chat_name(chat.name, chat.id)}"
        self.cuts, self.days = cuts_of(shelf.archive, chat.id, shelf.choice, shelf.clock)
        self.links = Links(shelf.media, self.cuts)
        self.ground = digest(shelf.sources.ground, chat.id, chat.account_id, chat.name, chat.kind)
        self.preview = ""
        self.latest_ms = 0
        self.count = 0

    def write(self, name: str, start: Position, end: Position | None) -> int:
        """Write the messages from one place to another, unless they are written; return how many there are."""
        shelf, key = self.shelf, f"{self.home}/{name}"
        stretch = (self.chat.id, start, end, shelf.choice.until_ms)
        drawn = recalled(shelf.folder.recall(key), Drawn)
        rows = None if drawn is None else shelf.archive.stretch(*stretch, MARKS)
        if drawn is None or rows is None or not self.fits(name, drawn, rows):
            whole = shelf.archive.stretch(*stretch)
            rows = list(map(marks, whole))
            drawn = self.draw(name, whole, rows)
        if drawn is not None:
            shelf.folder.remember(key, msgspec.json.encode(drawn))
        if rows:
            self.count += len(rows)
            self.latest_ms = rows[-1][2]
        return len(rows)

    def take(self, sheet: Sheet) -> int:
        """Write messages that were drawn somewhere else; return how many there are."""
        shelf = self.shelf
        for name, source, identity in sheet.placed:
            if not shelf.folder.has(name):
                shelf.folder.place(name, Path(source), identity)
        for name, content in sheet.files:
            shelf.folder.put(name, content)
        for key, value in sheet.notes:
            shelf.folder.remember(key, value)
        if shelf.index is not None:
            for one, words in zip(sheet.listed, sheet.words, strict=True):
                shelf.index.add_words(len(shelf.listed), words)
                shelf.listed.append(one)
        if sheet.count:
            self.count += sheet.count
            self.latest_ms, self.preview = sheet.latest_ms, sheet.preview
        return sheet.count

    def fits(self, name: str, drawn: Drawn, rows: Sequence[Row]) -> bool:
        """Keep pages as they are, if they would be drawn the same; tell whether they would."""
        shelf, asked = self.shelf, drawn.asked
        names = [name]
        for part in drawn.parts[1:]:
            names.append(self.cuts.split(names[-1], Position(*part.start)))
        media = shelf.sources.attachments(asked.files)
        files = [shelf.media.find(one) if shelf.media else None for one in media]
        places = [f"{self.home}/{one}" for one in names]
        if self.stamp(names, rows, asked, self.addresses(asked.replies), files) != drawn.stamp or not all(
            shelf.folder.keep(f"{place}.html", part.page)
            and (part.texts is None or shelf.folder.keep(f"{place}.js", part.texts))
            for place, part in zip(places, drawn.parts, strict=True)
        ):
            self.cuts.unite(name, len(names))
            return False
        for one in media:
            self.links.media(one)
        self.preview = drawn.preview
        if shelf.index is not None:
            shelf.listed += [
                Listed(self.home, one, part.latest, part.texts or "", drawn=False)
                for one, part in zip(names, drawn.parts, strict=True)
            ]
        return True

    def stamp(
        self,
        names: Sequence[str],
        rows: Sequence[Row],
        asked: Asked,
        addresses: Sequence[str | None],
        files: Sequence[str | None],
    ) -> str:
        """Make a digest of all that pages are drawn from."""
        sources, cuts = self.shelf.sources, self.cuts
        return digest(
            self.ground,
            (cuts.before(names[0]), cuts.after(names[-1])),
            rows,
            sources.people(self.chat.account_id, asked.people),
            sources.seen(asked.first, asked.last),
            sources.mentioned(asked.mentions),
            addresses,
            files,
            sources.texts(asked.texts),
        )

    def addresses(self, replies: Sequence[int]) -> list[str | None]:
        """Find what messages answer to, and where that is."""
        if not replies:
            return []
        quotes = self.shelf.archive.gather(QUOTES, msgspec.json.encode(replies).decode())
        targets = [quotes[number][0][4] if number in quotes else None for number in replies]
        self.links.targets = self.find(targets)
        return [self.links.message(number) for number in targets]

    def draw(self, name: str, whole: Sequence[Row], rows: Sequence[Row]) -> Drawn | None:
        """Draw messages on a page, or on several where they are too long for one.

        Return what they were drawn from, None where there are none.
        """
        archive, links = self.shelf.archive, self.links
        with archive.names.listening() as heard:
            messages = archive.complete(whole)
        if not messages:
            return None
        replies = [one for one in messages if one.quote is not None and one.quote.target_sent_ms is not None]
        targets = [one.quote.target_id if one.quote else None for one in replies]
        links.targets, links.asked = self.find(targets), {}
        names, parts = self.lay_out(name, messages)
        self.preview = said(messages[-1])
        asked = Asked(
            tuple(sorted(heard, key=str)),
            tuple(sorted({row[4] for row in rows})),
            tuple(sorted({row[5] for row in rows if row[5] is not None})),
            tuple([one.id for one in messages if (one.ranges or one.quote_ranges) and mentions(one)]),
            tuple([one.id for one in replies]),
            tuple(links.asked),
            tuple(dict.fromkeys([text for one in messages if one.attachments for text in long_texts(one)])),
        )
        addresses = [links.message(number) for number in targets]
        stamp = self.stamp(names, rows, asked, addresses, list(links.asked.values()))
        return Drawn(stamp, asked, tuple(parts), self.preview)

    def lay_out(self, name: str, messages: Sequence[Message]) -> tuple[list[str], list[Part]]:
        """Draw messages and write their pages; return the names of these, and what was written."""
        clock, links = self.shelf.clock, self.links
        names, made = [name], list[Part]()
        parts: list[str] = []
        size = start = 0
        before: Message | None = None
        shown: int | None = None
        for n, message in enumerate(messages):
            day = clock.day(message.position.ms)
            if size > LARGEST:
                fresh = self.cuts.split(name, message.position)
                made.append(self.put(name, parts, messages[start:n]))
                name, parts, size, start, before, shown = fresh, [], 0, n, None, None
                names.append(name)
            if day != shown:
                parts.append(day_line(day))
                shown, before = day, None
            text = bubble(message, links, clock, day=day, follows=stands_with(before, message))
            parts.append(text)
            size += len(text)
            before = message
        made.append(self.put(name, parts, messages[start:]))
        return names, made

    def find(self, wanted: Sequence[int | None]) -> dict[int, Position]:
        """Find where the messages stand that others answer to."""
        numbers = [number for number in wanted if number is not None]
        if not numbers:
            return {}
        rows = self.shelf.archive.connection.execute(
            "SELECT order_ms, order_n, id FROM message "
            "WHERE id IN (SELECT value FROM json_each(?1)) AND +chat_id = ?2",
            (msgspec.json.encode(numbers).decode(), self.chat.id),
        )
        choice = self.shelf.choice
        since, until = choice.since_ms or 0, choice.until_ms
        return {row[2]: Position(*row) for row in rows if row[0] >= since and (until is None or row[0] < until)}

    def put(self, name: str, parts: list[str], messages: Sequence[Message]) -> Part:
        """Write one page, and its texts for the search."""
        shelf, clock = self.shelf, self.shelf.clock
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
        first = messages[0].position
        start = (first.ms, first.n, first.id)
        mark = shelf.folder.put(f"{self.home}/{name}.html", page)
        if shelf.index is None:
            return Part(start, mark, None, 0)
        texts = [found for one in messages if (found := searchable(one, clock)) is not None]
        authors = list(dict.fromkeys([one[1] for one in texts]))
        places = {author: n for n, author in enumerate(authors)}
        rows = [(one[0], places[one[1]], one[2], one[3]) for one in texts]
        latest = max([one[2] for one in texts], default=0)
        script = page_script(f"{self.home}/{name}", authors, rows)
        part = Part(start, mark, shelf.folder.put(f"{self.home}/{name}.js", script), latest)
        shelf.index.add(len(shelf.listed), [one[3] for one in texts])
        shelf.listed.append(Listed(self.home, name, latest, part.texts or "", drawn=True))
        return part

    def finish(self) -> Room:
        """Write what leads to the pages, unless it is written."""
        folder, cuts, key = self.shelf.folder, self.cuts, f"{self.home}/index"
        last = cuts.names[-1] if self.count else None
        if last is not None:
            days = [(day, cuts.page(one.start), one.messages) for day, one in self.days.items()]
            stamp = digest(self.ground, days, self.count, cuts.names[0], last)
            kept = recalled(folder.recall(key), Kept)
            if kept is None or kept.stamp != stamp or not all(folder.keep(*one) for one in kept.files):
                kept = Kept(stamp, tuple((name, folder.put(name, text)) for name, text in self.ways(days, last)))
            folder.remember(key, msgspec.json.encode(kept))
        return Room(self.chat, self.home, last, self.count, self.latest_ms, self.preview)

    def ways(self, days: Sequence[pages.CalendarDay], last: str) -> Iterator[tuple[str, bytes]]:
        """Draw what leads to the pages."""
        search = self.shelf.index is not None
        index = pages.calendar_page(self.chat, days, self.cuts, self.count, search=search)
        yield f"{self.home}/index.html", index.encode()
        if len(self.cuts.names) > 1:
            yield f"{self.home}/latest.html", pages.latest_page(self.chat, last).encode()
            dates = [(iso(day), page) for day, page, _messages in days]
            yield f"{self.home}/dates.js", b"holdfast.dates(%s);\n" % msgspec.json.encode(dates)


def said(message: Message) -> str:
    """Say in a line what a message says."""
    text = with_names(message.text or "", message.ranges) or message.sentence
    text = text or ("📎" if message.attachments else "")
    line = " ".join(text[:200].split())[:90]
    name = "You" if message.direction == "outgoing" else message.author
    return f"{name}: {line}" if line and message.kind != "update" else line


def long_texts(message: Message) -> Iterator[File]:
    """Yield the files that hold texts of a message."""
    for one in message.attachments:
        if one.role == "long_text" and one.media_name is not None:
            yield one.media_name, one.content_type, one.file_name


def mentions(message: Message) -> bool:
    """Tell whether a message mentions somebody, or quotes where somebody is."""
    return any(one.style is None for one in (*message.ranges, *message.quote_ranges))


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
